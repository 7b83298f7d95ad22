import { constants } from 'node:os';
import { expect, it } from 'vitest';
import { fileFailure, spawnFailure } from '../../src/dialects/os-failure.js';
import { OsError } from '../../src/os-error.js';

const { E2BIG, EAGAIN, EIO, ENOENT, ENOSPC } = constants.errno;

it.each([
  [ENOENT, 'file_not_found', { errno: 'ENOENT' }],
  [ENOSPC, 'disk_full', { errno: 'ENOSPC' }],
  [EIO, 'os_error', { errno: 'EIO' }],
  [EAGAIN, 'os_error', { errno: 'EAGAIN' }],
  [4_095, 'os_error', {}],
])('a file operation that fails with %i is %s', (errno, reason, detail) => {
  expect(fileFailure(new OsError(errno, 'open'))).toEqual([reason, detail]);
});

it.each([
  [undefined, 'spawn_failed', {}],
  [new OsError(ENOENT, 'posix_spawn'), 'spawn_failed', { errno: 'ENOENT' }],
  [new OsError(E2BIG, 'posix_spawn'), 'argument_too_long', { errno: 'E2BIG' }],
])('a program that cannot be run for %s is %s', (cause, reason, detail) => {
  expect(spawnFailure(cause)).toEqual([reason, detail]);
});
