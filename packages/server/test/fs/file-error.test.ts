import { readFile, stat } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { callSystem, ENOENT, ENOTDIR, FileError, isOsError, unlessErrno } from '../../src/fs/file-error.js';
import { OsError } from '../../src/os-error.js';

it('tells errors of the system by their number', async () => {
  const failed = callSystem(stat('/missing'));
  await expect(failed).rejects.toEqual(new OsError(ENOENT, 'stat'));
  await failed.catch((error: unknown) => {
    expect([isOsError(error, ENOTDIR, ENOENT), isOsError(error, ENOTDIR)]).toEqual([true, false]);
  });
});

it('refuses a NUL', async () => {
  await expect(callSystem(stat('/a\0b'))).rejects.toEqual(
    new FileError('refused', 'file name contained an unexpected NUL byte'),
  );
});

it('leaves other errors as they are', async () => {
  const aborted = callSystem(readFile('/dev/null', { signal: AbortSignal.abort() }));
  await expect(aborted).rejects.toHaveProperty('name', 'AbortError');
});

it('gives nothing for the errors that are expected', async () => {
  expect(await unlessErrno(stat('/missing'), ENOENT)).toBeUndefined();
  await expect(unlessErrno(stat('/missing'), ENOTDIR)).rejects.toBeInstanceOf(OsError);
});
