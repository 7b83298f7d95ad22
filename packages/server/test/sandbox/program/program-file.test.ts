import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PROGRAM_DIGESTS } from '../../../src/sandbox/program/digests.js';
import { requireRoot } from '../../support/cgroups.js';
import { requireSandboxProgram } from '../../support/run-plan.js';

const COMMAND = fileURLToPath(new URL('../../../../cli/bin/exec-server.js', import.meta.url));

beforeEach((test) => {
  requireSandboxProgram(test);
  // The program is opened once.
  vi.resetModules();
});
afterEach(() => vi.doUnmock('../../../src/sandbox/program/read-program.js'));

async function openProgram(): Promise<number> {
  const { openProgram: open } = await import('../../../src/sandbox/program/program-file.js');
  return open();
}

it('is in memory, opened once, and nobody can change it', async () => {
  const fd = await openProgram();
  const path = `/proc/self/fd/${fd}`;
  expect(readlinkSync(path)).toMatch(/^\/memfd:/);
  expect(createHash('sha256').update(readFileSync(path)).digest('hex')).toBe(
    PROGRAM_DIGESTS[process.arch as 'x64'],
  );
  expect(() => writeFileSync(path, 'x')).toThrow(/EPERM|ETXTBSY/);
  expect(() => writeFileSync(path, 'x', { flag: 'r+' })).toThrow(/EPERM|ETXTBSY/);
  expect(await openProgram()).toBe(fd);
});

it.each([
  ['another', Buffer.from('#!/bin/sh\n'), /has the SHA-256 digest [0-9a-f]{64} instead of [0-9a-f]{64}/],
  ['none', undefined, /is missing from this installation/],
])('is not executed when it is %s', async (_name, bytes, message) => {
  vi.doMock('../../../src/sandbox/program/read-program.js', () => ({ readProgram: async () => bytes }));
  await expect(openProgram()).rejects.toThrow(message);
  const { HelperBackend } = await import('../../../src/sandbox/helper/helper-backend.js');
  expect(await new HelperBackend().probe()).toEqual({ works: false, reason: expect.stringMatching(message) });
});

it('is a file without a name where the system forbids programs in memory', (test) => {
  requireRoot(test);
  // The setting belongs to a PID namespace.
  const script = 'echo 2 > /proc/sys/vm/memfd_noexec || exit 99; exec "$@"';
  const { status, stdout } = spawnSync(
    'unshare',
    [
      '--pid',
      '--fork',
      '--mount-proc',
      'sh',
      '-c',
      script,
      'sh',
      process.execPath,
      COMMAND,
      'doctor',
      '--json',
    ],
    { encoding: 'utf8' },
  );
  if (status === 99) test.skip('needs vm.memfd_noexec');
  const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; finding: string }[] };
  expect(checks.find(({ name }) => name === 'sandbox')).toMatchObject({ status: 'ok' });
  expect(checks.find(({ name }) => name === 'sandbox helper')).toMatchObject({
    status: 'ok',
    finding: 'works',
  });
});
