import { expect, it } from 'vitest';
import { ConnectionLostError, RejectedError } from '../../src/errors.js';
import { explainFailure, FileSystemError, hasErrno } from '../../src/fs/file-system-error.js';
import { failureOf } from '../support/files.js';

const failed = { operation: 'stat', path: '/x' };

it.each([
  ['No such file or directory (os error 2)', -32004, 'ENOENT'],
  ['Permission denied (os error 13)', -32600, 'EACCES'],
  ['File exists (os error 17)', -32603, 'EEXIST'],
  ['Not a directory (os error 20)', -32603, 'ENOTDIR'],
  ['Is a directory (os error 21)', -32603, 'EISDIR'],
  ['No space left on device (os error 28)', -32603, 'ENOSPC'],
  ['Directory not empty (os error 39)', -32603, 'ENOTEMPTY'],
  ['Directory not empty (os error 66)', -32603, 'ENOTEMPTY'],
  ['Symbolic link loop (os error 40)', -32603, 'ELOOP'],
  ['something else is missing', -32004, 'ENOENT'],
  ['unknown file handle `h`', -32004, 'EBADF'],
  ['path contains a symbolic link', -32600, 'ELOOP'],
  ['at most 128 file handles may be open per connection', -32600, 'EMFILE'],
  ['No error information (os error 9999)', -32603, undefined],
  ['path `/d` is not a file', -32600, undefined],
])('%s (%i) is %s', (reason, rpcCode, errno) => {
  const error = new FileSystemError(reason, rpcCode, failed);
  expect(error).toMatchObject({ errno, rpcCode, code: 'rejected', name: 'FileSystemError', ...failed });
  expect(error.message).toBe(`${errno === undefined ? '' : `${errno}: `}${reason}, stat '/x'`);
});

it('explains what the server refused, and nothing else', async () => {
  const rejected = new RejectedError('busy (os error 16)', -32603, { data: { a: 1 }, retryable: true });
  const explained = await failureOf(explainFailure(Promise.reject(rejected), failed));
  expect(explained).toBeInstanceOf(FileSystemError);
  expect(explained).toMatchObject({ errno: 'EBUSY', cause: rejected, data: { a: 1 }, retryable: true });
  const lost = new ConnectionLostError('gone');
  expect(await failureOf(explainFailure(Promise.reject(lost), failed))).toBe(lost);
  expect(await failureOf(explainFailure(Promise.reject(explained), { operation: 'rm', path: '/y' }))).toBe(
    explained,
  );
});

it('is known by its errno', () => {
  const error = new FileSystemError('File exists (os error 17)', -32603, failed);
  expect([
    hasErrno(error, 'ENOENT', 'EEXIST'),
    hasErrno(error, 'ENOENT'),
    hasErrno(new Error(), 'EEXIST'),
  ]).toEqual([true, false, false]);
});
