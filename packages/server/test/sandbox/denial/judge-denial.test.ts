import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.js';
import {
  judgeStatus,
  judgeWords,
  MAX_COMPLAINTS,
  MAX_JUDGING_MS,
} from '../../../src/sandbox/denial/judge-denial.js';
import { resolvePolicy } from '../../../src/sandbox/policy/resolve-policy.js';
import { FakeClock } from '../../support/fake-clock.js';
import { pattern, READ_ROOT, resolveNow, rule, sandboxOf } from '../../support/sandbox.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

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
    policy: resolveNow(context, { temporaryDirectories: [] }),
    cwd: Buffer.from(directory),
    clock: systemClock,
  };
  const judge = (words: string) =>
    judgeWords({ ...confined, output: [Buffer.from('some output\n'), Buffer.from(words)] });
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
  expect(await judge(words)).toBe(expected);
});

it('judges by how it ended, and by its words where that does not tell', () => {
  expect(judgeStatus({ kind: 'exited', code: 0 })).toBe(false);
  expect(judgeStatus({ kind: 'exited', code: 128 + 31 })).toBe(true);
  expect(judgeStatus({ kind: 'signaled', signal: 31 })).toBe(true);
  expect(judgeStatus({ kind: 'signaled', signal: 9 })).toBe(false);
  expect(judgeStatus({ kind: 'exited', code: 1 })).toBeUndefined();
});

it.each([
  [MAX_COMPLAINTS - 1, true],
  [MAX_COMPLAINTS, false],
])('a complaint is looked at that %i others follow: %s', async (others, expected) => {
  const { judge } = await makeCase();
  const lines = Array.from({ length: others }, (_, index) => `cat: no/such/${index}: Permission denied`);
  expect(await judge(['cat: secret: Permission denied', ...lines].join('\n'))).toBe(expected);
  expect(await judge([...lines, 'cat: secret: Permission denied'].join('\n'))).toBe(true);
});

it.each([
  [-1, true],
  [0, true],
  [1, false],
])('a path of %i bytes more than the longest may be why: %s', async (more, expected) => {
  const { directory, judge } = await makeCase();
  // Names have at most 255 bytes, so that the last one takes what is left of the whole.
  let parent = directory;
  while (parent.length < 3_900) parent += `/${'d'.repeat(80)}`;
  await mkdir(parent, { recursive: true });
  const name = 'f'.repeat(4_095 + more - parent.length - 1);
  const words = `sh: cannot create ${parent}/${name}: Read-only file system`;
  expect(await judge(words)).toBe(expected);
});

it.each([
  [254, true],
  [255, true],
  [256, false],
])('a name of %i bytes may be why: %s', async (length, expected) => {
  const { judge } = await makeCase();
  expect(await judge(`sh: cannot create ${'n'.repeat(length)}: Read-only file system`)).toBe(expected);
});

it.each([
  [MAX_JUDGING_MS - 1, true],
  [MAX_JUDGING_MS, false],
])('after %i ms without an answer of the file system it is denied: %s', async (ms, expected) => {
  const { confined } = await makeCase();
  const clock = new FakeClock();
  const output = [Buffer.from('cat: secret: Permission denied')];
  const judged = judgeWords({ ...confined, clock, output });
  clock.advance(ms);
  expect(await judged).toBe(expected);
  expect(clock.pendingTimers).toBe(0);
});

it('looks at nothing more when its time is over', async () => {
  const { confined, directory } = await makeCase();
  const slow = Array.from({ length: 500 }, (_, index) =>
    pattern(`${directory}/${'*a'.repeat(60)}${index}`, 'deny'),
  );
  const context = sandboxOf([READ_ROOT, ...slow, pattern(`${directory}/key.pem`, 'deny')]);
  const policy = await resolvePolicy(context, { temporaryDirectories: [] });
  const clock = new FakeClock();
  const words = `cat: ${'a'.repeat(250)}: Permission denied\ncat: key.pem: Permission denied`;
  const judged = judgeWords({ ...confined, policy, clock, output: [Buffer.from(words)] });
  // It pauses between two patterns, long before it comes to the one that is why.
  clock.advance(MAX_JUDGING_MS);
  expect(await judged).toBe(false);
});

it('does not take the network for the reason where it is not restricted', async () => {
  const { confined } = await makeCase();
  const output = [Buffer.from('Could not resolve host: example.com')];
  const policy = { ...confined.policy, network: 'enabled' } as const;
  expect(await judgeWords({ ...confined, policy, output })).toBe(false);
});

it('does not take the sandbox for the reason where the user has no right in the first place', async () => {
  const { judge } = await makeCase();
  // Nobody can write there, root included.
  expect(await judge('sh: cannot create /proc/self/new: Permission denied')).toBe(false);
});
