import { expect, it } from 'vitest';
import { makeRoomForHelper } from '../../../src/sandbox/files/helper-policy.js';
import { findRuntime } from '../../../src/sandbox/files/runtime-paths.js';
import type { FilePolicy } from '../../../src/sandbox/policy/policy.js';

const policyOf = (...entries: [path: string, access: 'read' | 'write' | 'deny'][]): FilePolicy => ({
  entries: entries.map(([path, access]) => ({ path: Buffer.from(path), access })),
  denyGlobs: [],
  globScanMaxDepth: undefined,
  minimal: false,
  fullRead: false,
  fullWrite: false,
});

const describePolicy = ({ entries }: FilePolicy) =>
  entries.map(({ path, access }) => `${access} ${path.toString()}`);

it('adds the files that a helper needs, one by one, and nothing where they can be read', () => {
  const own = [...new Set(findRuntime().paths.map((path) => `read ${path.toString()}`))];
  const alone = describePolicy(makeRoomForHelper(policyOf(['/work', 'write'])));
  expect(new Set(alone)).toEqual(new Set([...own, 'write /work']));
  // Parents come before what is below them.
  expect(alone.map((entry) => entry.split(' ')[1])).toEqual(alone.map((entry) => entry.split(' ')[1]).sort());
  expect(describePolicy(makeRoomForHelper(policyOf(['/', 'read'])))).toEqual(['read /']);
});
