import { expect, it } from 'vitest';
import { makeRoomForHelper } from '../../../src/sandbox/files/helper-policy.js';
import { findRuntime } from '../../../src/sandbox/files/runtime-paths.js';
import type { FilePolicy } from '../../../src/sandbox/policy/policy.js';
import { READ_ROOT, resolveFiles, rule, sandboxOf } from '../../support/sandbox.js';

const describePolicy = ({ rules }: FilePolicy) =>
  rules.rules
    .filter(({ implied }) => implied !== true)
    .map(({ path, access }) => `${access} ${path.toString()}`);

it('adds the files that a helper needs, one by one, and nothing where they can be read', async () => {
  const own = [...new Set(findRuntime().paths.map((path) => `read ${path.toString()}`))];
  const alone = describePolicy(await makeRoomForHelper(resolveFiles(sandboxOf([rule('/work', 'write')]))));
  expect(new Set(alone)).toEqual(new Set([...own, 'write /work']));
  // Parents come before what is below them.
  expect(alone.map((entry) => entry.split(' ')[1])).toEqual(alone.map((entry) => entry.split(' ')[1]).sort());
  expect(describePolicy(await makeRoomForHelper(resolveFiles(sandboxOf([READ_ROOT]))))).toEqual(['read /']);
});
