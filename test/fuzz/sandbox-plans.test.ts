import { spawnSync } from 'node:child_process';
import { chmod, copyFile, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { runPlan } from '../../packages/server/test/support/run-plan.js';
import { testProperty } from './property.js';

const SOURCES = fileURLToPath(new URL('../../packages/server/sandbox/', import.meta.url));

/** A user who can do nothing to the host, in mounts that nobody else sees: the program is not trusted here. */
const CAGE = ['unshare', '--user', '--map-root-user', '--mount', '--propagation', 'private', '--'];
const CAGED_USER = 0;

const RUNS = 150;

let directory: string;
let command: string[];

beforeAll(async () => {
  directory = await mkdtemp(join(await realpath(tmpdir()), 'exec-server-plans-'));
  await chmod(directory, 0o755);
  const program = join(directory, 'sandbox');
  const sources = (await readdir(SOURCES)).filter((name) => name.endsWith('.c'));
  const checks = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all'];
  const flags = ['-std=c11', '-g', '-O1', '-static-libasan', '-static-libubsan', ...checks];
  const { status } = spawnSync('gcc', [...flags, '-o', program, ...sources], { cwd: SOURCES });
  // Without a compiler the program itself shows only what ends it.
  if (status !== 0) await copyFile(join(SOURCES, `sandbox-${process.arch}`), program);
  await chmod(program, 0o755);
  command = [...CAGE, program];
}, 120_000);

afterAll(() => rm(directory, { recursive: true, force: true }));

const path = fc.constantFrom(
  '/',
  '/etc',
  '/etc/passwd',
  '/dev',
  '/proc',
  '/x',
  '/x/y',
  '/tmp/..',
  'x',
  '',
  '/no/such',
);
const attributes = fc.constantFrom('-', 'read-only', 'no-devices,no-programs', ',', 'read-only,,', 'none');
const mode = fc.constantFrom('0', '755', '7777', '8', '17777');
const number = fc.oneof(
  fc.nat(20).map(String),
  fc.constantFrom('2147483647', '2147483648', '18446744073709551615', '-1'),
);
const short = fc.string({ maxLength: 40 }).map((text) => text.replaceAll('\0', '0'));
const list = fc.oneof(
  fc.array(short, { maxLength: 5 }).map((words) => [String(words.length), ...words]),
  fc.tuple(number, short),
);

type Words = readonly string[];

const step = (name: string, ...words: fc.Arbitrary<string>[]) =>
  fc.tuple(...words).map((values): Words => [name, ...values]);

/** Steps as they are meant, with arguments that may be wrong. */
const anyStep: fc.Arbitrary<Words> = fc.oneof(
  fc.constant(['namespaces', '3', 'user', 'mount', 'pid']),
  fc.constant(['namespaces', '5', 'user', 'mount', 'pid', 'ipc', 'net']),
  list.map((words) => ['namespaces', ...words]),
  step('map-user', number, number),
  step('root', fc.constant('host'), attributes),
  step('root', fc.constant('empty'), mode),
  step('bind', path, path, attributes),
  step('directory', path, mode),
  step('tmpfs', path, mode),
  step('proc', path, attributes),
  step('devpts', path, attributes),
  step('console', path),
  step('hide-file', path),
  step('hide-directory', path),
  step('symlink', short, path),
  step('attributes', path, attributes),
  ...[
    'loopback',
    'pivot',
    'capabilities',
    'no-new-privileges',
    'init',
    'entered',
    'session',
    'terminal',
    'done',
  ].map((name) => fc.constant([name])),
  step('socket', fc.constantFrom('stream', 'datagram', 'raw'), number),
  step('hand-over', number),
  step('chdir', path),
  step('descriptors', number),
  step('mode', fc.constantFrom('4', '5', '99', '-1'), mode),
  step('seccomp', fc.constantFrom('', '0600000000000000', '060000000000ff7f', '06000000000', 'zz'.repeat(8))),
  step('parent-death', number),
  step('cgroup', path),
  list.map((groups) => ['user', '0', '0', ...groups]),
  fc.constant(['landlock-abi']),
  step('landlock', number, number, number),
  step('landlock-path', number, path),
  fc.constant(['landlock-restrict']),
  fc.tuple(list, list).map(([argv, env]) => ['exec', '/bin/true', ...argv, ...env]),
);

/** Plans that come as far as a sandbox before anything is wrong. */
const START = [
  'namespaces',
  '5',
  'user',
  'mount',
  'pid',
  'ipc',
  'net',
  'map-user',
  String(CAGED_USER),
  String(CAGED_USER),
];
const ROOT = ['root', 'empty', '755', 'bind', '/usr', '/usr', '-', 'proc', '/proc', '-'];
const start = fc.constantFrom<Words[]>(
  [],
  START,
  [...START, ...ROOT],
  [...START, ...ROOT, 'pivot', 'capabilities', 'init'],
);

const encode = (words: readonly string[]) => Buffer.from(words.map((word) => `${word}\0`).join(''));

/** Whole plans, plans that are cut off, and plans with other bytes in them. */
const plan = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(start, fc.array(anyStep, { maxLength: 12 }))
      .map(([first, rest]) => encode([...first, ...rest.flat()])),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(start, fc.array(anyStep, { maxLength: 6 }), fc.nat(), fc.nat(255))
      .map(([first, rest, at, byte]) => {
        const bytes = encode([...first, ...rest.flat()]);
        if (bytes.length > 0) bytes[at % bytes.length] = byte;
        return bytes.subarray(0, Math.max(1, bytes.length - (at % 3)));
      }),
  },
);

describe.skipIf(process.platform !== 'linux')('the sandbox program', () => {
  testProperty(
    'ends by itself, whatever its plan is, and leaves the mounts of the host alone',
    fc.asyncProperty(plan, async (raw) => {
      const before = await readFile('/proc/self/mountinfo', 'utf8');
      const { output, exitCode, signal } = await runPlan([], { command, raw });
      expect(output).not.toMatch(/Sanitizer|runtime error/);
      // A filter may end it, as may a call that nobody meant to make.
      expect(['SIGSYS', null]).toContain(signal);
      if (signal === null) expect([0, 1, 127]).toContain(exitCode);
      expect(await readFile('/proc/self/mountinfo', 'utf8')).toBe(before);
    }),
    RUNS,
  );
});
