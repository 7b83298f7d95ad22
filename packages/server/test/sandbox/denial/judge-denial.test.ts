import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { judgeDenial } from '../../../src/sandbox/denial/judge-denial.js';
import { resolvePolicy } from '../../../src/sandbox/policy/resolve-policy.js';
import { pattern, READ_ROOT, rule, sandboxOf } from '../../support/sandbox.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

const FAILED = { kind: 'exited', code: 1 } as const;

async function makeCase() {
  const directory = await makeTempDirectory();
  await mkdir(join(directory, 'writable'));
  await writeFile(join(directory, 'file'), '');
  await writeFile(join(directory, 'secret'), '');
  await writeFile(join(directory, 'key.pem'), '');
  const context = sandboxOf([
    READ_ROOT,
    rule(join(directory, 'writable'), 'write'),
    rule(join(directory, 'secret'), 'deny'),
    pattern(`${directory}/*.pem`, 'deny'),
  ]);
  const confined = {
    policy: resolvePolicy(context, { temporaryDirectories: [] }),
    cwd: Buffer.from(directory),
  };
  const judge = (words: string, status: Parameters<typeof judgeDenial>[0] = FAILED) =>
    judgeDenial(status, { ...confined, output: [Buffer.from('some output\n'), Buffer.from(words)] });
  return { directory, judge, confined };
}

it.each([
  ['sh: cannot create file: Read-only file system', true],
  ['sh: cannot create new: Read-only file system', true],
  ['sh: cannot create writable/new: Read-only file system', false],
  ['cat: secret: Permission denied', true],
  ['cat: key.pem: Permission denied', true],
  ['cat: other/key.pem: Permission denied', false],
  ['sh: cannot create no/such/directory: Read-only file system', false],
  ['Read-only file system', false],
  ['curl: (6) Could not resolve host: example.com', true],
  ['all is well', false],
])('judges by the policy what a program says: %s', async (words, expected) => {
  const { judge } = await makeCase();
  expect(judge(words)).toBe(expected);
});

it('judges by how it ended', async () => {
  const { judge } = await makeCase();
  const words = 'sh: cannot create file: Read-only file system';
  expect(judge(words, { kind: 'exited', code: 0 })).toBe(false);
  expect(judge('', { kind: 'exited', code: 128 + 31 })).toBe(true);
  expect(judge('', { kind: 'signaled', signal: 31 })).toBe(true);
  expect(judge(words, { kind: 'signaled', signal: 9 })).toBe(false);
});

it('does not take the network for the reason where it is not restricted', async () => {
  const { confined } = await makeCase();
  const output = [Buffer.from('Could not resolve host: example.com')];
  const policy = { ...confined.policy, network: 'enabled' } as const;
  expect(judgeDenial(FAILED, { ...confined, policy, output })).toBe(false);
});

it('does not take the sandbox for the reason where the user has no right in the first place', async () => {
  const { judge } = await makeCase();
  // Nobody can write there, root included.
  expect(judge('sh: cannot create /proc/self/new: Permission denied')).toBe(false);
});
