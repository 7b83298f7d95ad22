import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { beforeEach, expect, it } from 'vitest';
import {
  encodeWords,
  namespaces,
  PLAN_USER,
  requireSandboxProgram,
  runPlan,
} from '../../support/run-plan.js';

const { EPROTO } = constants.errno;

const user = PLAN_USER!;
const ROOT = ['root', 'host', 'read-only'];
const NAMESPACES = namespaces(user);
const BUILT = [...NAMESPACES, ...ROOT];
const PIVOTED = [...BUILT, 'pivot'];
const INSIDE = [...PIVOTED, 'capabilities'];

/** Steps, and what they take. */
const OUTSIDE_STEPS = [
  ['parent-death', process.pid],
  ['cgroup', '/no/such'],
  ['user', user, user, 0],
  ['landlock', 0, 0, 0],
  ['landlock-path', 0, '/'],
  ['landlock-restrict'],
  NAMESPACES,
];
const NAMESPACED_STEPS = [['map-user', user, user], ['loopback'], ROOT];
const BUILDING_STEPS = [
  ['bind', '/', '/', '-'],
  ['directory', '/x', '755'],
  ['tmpfs', '/', '755'],
  ['proc', '/', '-'],
  ['devpts', '/', '-'],
  ['console', '/'],
  ['hide-file', '/etc/passwd'],
  ['hide-directory', '/'],
  ['symlink', 'x', '/x'],
  ['attributes', '/', 'read-only'],
  ['pivot'],
];
const END_STEPS = [
  ['no-new-privileges'],
  ['entered'],
  ['socket', 'stream', 1],
  ['hand-over', 1],
  ['session'],
  ['terminal'],
  ['chdir', '/'],
  ['mode', 1, '0'],
  ['descriptors', 3],
  ['seccomp', ''],
  ['exec', '/bin/true', 0, 0],
  ['done'],
];

beforeEach((test) => requireSandboxProgram(test));

/** Pairs of what was done before and a step that must not follow it. */
const misplaced = [
  ...[...NAMESPACED_STEPS, ...BUILDING_STEPS, ['init']].map((step) => ['outside', [], step] as const),
  ...[...OUTSIDE_STEPS, ...BUILDING_STEPS, ['capabilities'], ['init'], ...END_STEPS].map(
    (step) => ['in namespaces', NAMESPACES, step] as const,
  ),
  ...[...OUTSIDE_STEPS, ...NAMESPACED_STEPS, ['capabilities'], ['init'], ...END_STEPS].map(
    (step) => ['while building', BUILT, step] as const,
  ),
  ...[...OUTSIDE_STEPS, ...NAMESPACED_STEPS, ...BUILDING_STEPS, ['init'], ...END_STEPS].map(
    (step) => ['after the pivot', PIVOTED, step] as const,
  ),
  ...[...OUTSIDE_STEPS, ...NAMESPACED_STEPS, ...BUILDING_STEPS, ['capabilities']].map(
    (step) => ['inside', INSIDE, step] as const,
  ),
].map(([where, before, step]) => ({ where, before, step, name: String(step[0]) }));

it.each(misplaced)('$name is refused $where', async ({ before, step, name }) => {
  const { status, exitCode } = await runPlan([...before, ...step]);
  expect([status.slice(0, 3), exitCode]).toEqual([['failed', name, String(EPROTO)], 127]);
});

it('leaves the mounts of the host as they are, whatever a plan says', async () => {
  const before = await readFile('/proc/self/mountinfo', 'utf8');
  await runPlan([...NAMESPACES, ...ROOT, 'bind', '/etc', '/usr', '-', 'done']);
  await runPlan(['bind', '/etc', '/usr', '-']);
  expect(await readFile('/proc/self/mountinfo', 'utf8')).toBe(before);
});

it('refuses namespaces without one of mounts, and kinds that it does not know', async () => {
  for (const [kinds, word] of [
    [[], 'mount'],
    [['user', 'pid'], 'mount'],
    [['user', 'mount', 'time'], 'time'],
  ] as const)
    expect((await runPlan(['namespaces', kinds.length, ...kinds])).status).toEqual([
      'failed',
      'namespaces',
      String(EPROTO),
      word,
    ]);
});

it('does not start a program before a ruleset is in force', async () => {
  const plan = ['no-new-privileges', 'landlock', 2, 0, 0, 'exec', '/bin/true', 1, 'true', 0];
  expect((await runPlan(plan)).status).toEqual(['failed', 'exec', String(EPROTO), '/bin/true']);
});

it.each([
  ['nothing', [], ['start', '']],
  ['a step that there is not', ['mount'], ['start', 'mount']],
  ['an end without an end', ['entered', 'session'], ['end', '']],
  ['too few words', ['chdir'], ['chdir', '']],
  ['a number that is none', ['descriptors', '3x'], ['descriptors', '3x']],
  ['a number below 0', ['descriptors', '-1'], ['descriptors', '-1']],
  ['an empty number', ['descriptors', ''], ['descriptors', '']],
  ['a number that is too large', ['descriptors', 2 ** 31], ['descriptors', String(2 ** 31)]],
  ['a number beyond 64 bits', ['landlock', '18446744073709551616'], ['landlock', '18446744073709551616']],
  ['a list that is longer than its plan', ['exec', '/bin/true', 1_000_000], ['exec', '']],
  ['a mode with other digits', [...BUILT, 'directory', '/x', '08'], ['directory', '08']],
  ['attributes that there are not', [...BUILT, 'bind', '/', '/', 'read-only,'], ['bind', 'read-only,']],
  [
    'a path upwards',
    [...NAMESPACES, 'root', 'empty', '755', 'directory', '/a/../b', '755'],
    ['directory', '/a/../b'],
  ],
  ['a filter of half an instruction', ['seccomp', '00000000'], ['seccomp', '']],
  ['a filter of other digits', ['seccomp', '0000000000000x00'], ['seccomp', '']],
])('refuses %s', async (_name, words, [step, word]) => {
  const { status, exitCode } = await runPlan(words);
  expect(status.filter((said) => said !== 'entered')).toEqual(['failed', step, String(EPROTO), word]);
  expect(exitCode).toBe(127);
});

it('refuses a plan without its last zero', async () => {
  const raw = encodeWords(['done']).subarray(0, -1);
  expect((await runPlan([], { raw })).status).toEqual(['failed', 'start', String(EPROTO), '']);
});

it('ends at once when it is not told its descriptors', async () => {
  const { status } = spawnSync(new URL(`../../../sandbox/sandbox-${process.arch}`, import.meta.url).pathname);
  expect(status).toBe(127);
});
