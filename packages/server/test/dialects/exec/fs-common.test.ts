import { RpcError } from '@exec-server/protocol';
import { expect, it } from 'vitest';
import { answerFor, osErrorToRpc, toNativePath } from '../../../src/dialects/exec/fs-common.js';
import { FileError } from '../../../src/fs/file-error.js';
import { OsError } from '../../../src/os-error.js';
import { NUL_PATH_URI, openFileSession } from '../../support/files.js';

it.each([
  [2, -32004, 'No such file or directory (os error 2)'],
  [22, -32600, 'Invalid argument (os error 22)'],
  [13, -32600, 'Permission denied (os error 13)'],
  [1, -32600, 'Operation not permitted (os error 1)'],
  [20, -32603, 'Not a directory (os error 20)'],
  [40, -32603, 'Symbolic link loop (os error 40)'],
])('errno %i is %i', (errno, code, message) => {
  expect(osErrorToRpc(new OsError(errno, 'open'))).toMatchObject({ code, message });
});

it.each([
  [new FileError('refused', 'no'), { code: -32600, message: 'no' }],
  [new FileError('failed', 'no'), { code: -32603, message: 'no' }],
  [new OsError(2, 'open'), { code: -32004 }],
])('%s reaches the client', async (error, expected) => {
  const answer = answerFor(Promise.reject(error));
  await expect(answer).rejects.toMatchObject(expected);
  await expect(answer).rejects.toBeInstanceOf(RpcError);
});

it('does not explain what it does not know', async () => {
  const error = new TypeError('a bug');
  await expect(answerFor(Promise.reject(error))).rejects.toBe(error);
});

it.each([
  ['file:///tmp/a%2F..%2Fb', '/tmp/b'],
  ['file:///tmp/a/', '/tmp/a'],
  ['file:///tmp//a%2F.', '/tmp/a'],
  ['file:///', '/'],
])('%s is %s', (uri, path) => {
  expect(toNativePath(uri).toString()).toBe(path);
});

it.each(['file://host/x', 'file:///C:/x'])('%s belongs to another host', (uri) => {
  expect(() => toNativePath(uri)).toThrowError(
    expect.objectContaining({ code: -32600, message: `'${uri}' is invalid on 'linux'` }),
  );
});

const walkOptions = { maxDepth: 1, maxDirectories: 1, maxEntries: 1, followDirectorySymlinks: false };
const copying = { destinationPath: 'file:///tmp/never', recursive: false };

it.each([
  ['fs/readFile', {}],
  ['fs/writeFile', { dataBase64: '' }],
  ['fs/writeFile', { dataBase64: '', atomic: true }],
  ['fs/createDirectory', {}],
  ['fs/getMetadata', {}],
  ['fs/getMetadata', { describeLink: true }],
  ['fs/readLink', {}],
  ['fs/symlink', { target: 'x' }],
  ['fs/canonicalize', {}],
  ['fs/readDirectory', {}],
  ['fs/walk', { options: walkOptions }],
  ['fs/remove', {}],
  ['fs/copy', copying],
  ['fs/rename', copying],
  ['fs/setMode', { mode: 0o600 }],
])('%s %j: foreign paths and NUL', async (method, params) => {
  const { call } = await openFileSession();
  const at = (path: string) => ({ path, sourcePath: path, ...params });
  expect(await call(method, at('file://host/x'))).toBe("-32600 'file://host/x' is invalid on 'linux'");
  expect(await call(method, at(NUL_PATH_URI))).toBe('-32600 file name contained an unexpected NUL byte');
});

it.each([
  ['fs/readFile', {}],
  ['fs/writeFile', { dataBase64: '' }],
  ['fs/createDirectory', {}],
  ['fs/getMetadata', {}],
  ['fs/remove', { recursive: false }],
  ['fs/setMode', { mode: 0o600 }],
])('%s without following links: NUL', async (method, params) => {
  const { call } = await openFileSession();
  expect(await call(method, { path: NUL_PATH_URI, followSymlinks: false, ...params })).toBe(
    '-32600 Invalid argument (os error 22)',
  );
});
