import { describe, expect, it } from 'vitest';
import * as protocol from '../../src/index.js';
import { problemOf } from './problem-of.js';

const path = 'file:///tmp/x';
const options = { maxDepth: 1, maxDirectories: 1, maxEntries: 1, followDirectorySymlinks: false };

describe('params', () => {
  it.each([
    [protocol.FsReadFileParams, { path, followSymlinks: null, sandbox: null }, undefined],
    [protocol.FsReadFileParams, { path, followSymlinks: 5 }, 'invalid type: number, expected a boolean'],
    [protocol.FsReadFileParams, { path: '/tmp' }, 'invalid URI: relative URL without a base'],
    [protocol.FsReadFileParams, { path: 'file://host/x' }, undefined],
    [
      protocol.FsReadFileParams,
      [path],
      'invalid length 2, expected struct WireFsReadFileParams with 3 elements',
    ],
    [protocol.FsWriteFileParams, { path, dataBase64: '!' }, undefined],
    [protocol.FsWriteFileParams, { path, dataBase64: null }, 'invalid type: null, expected a string'],
    [protocol.FsWriteFileParams, { path, dataBase64: '', atomic: true }, undefined],
    [protocol.FsWriteFileParams, { path, dataBase64: '', atomic: null }, undefined],
    [
      protocol.FsWriteFileParams,
      { path, dataBase64: '', atomic: 1 },
      'invalid type: number, expected a boolean',
    ],
    [
      protocol.FsWriteFileParams,
      [path, '', true, null, true],
      'invalid length 5, expected fewer elements in array',
    ],
    [protocol.FsReadDirectoryParams, { path, includeBroken: true }, undefined],
    [
      protocol.FsReadDirectoryParams,
      { path, includeBroken: 'yes' },
      'invalid type: string "yes", expected a boolean',
    ],
    [protocol.FsRenameParams, { sourcePath: path, destinationPath: path }, undefined],
    [protocol.FsRenameParams, { sourcePath: path }, 'missing field `destinationPath`'],
    [protocol.FsSetModeParams, { path, mode: 0o755, followSymlinks: false }, undefined],
    [protocol.FsSetModeParams, { path, mode: 65_536 }, 'invalid number'],
    [protocol.FsSetModeParams, { path }, 'missing field `mode`'],
    [protocol.FsOpenParams, { handleId: '', path, mode: 'replace' }, undefined],
    [
      protocol.FsOpenParams,
      { handleId: 'h', path, mode: null },
      'invalid type: null, expected string or map',
    ],
    [
      protocol.FsOpenParams,
      { handleId: 'h', path, mode: 'x' },
      'unknown variant `x`, expected `read` or `replace`',
    ],
    [
      protocol.FsOpenParams,
      ['h', path],
      'invalid length 3, expected struct WireFsOpenParams with 4 elements',
    ],
    [protocol.FsReadBlockParams, ['h', 0, 1], undefined],
    [protocol.FsReadBlockParams, { handleId: 'h', offset: -1, len: 1 }, 'invalid number'],
    [
      protocol.FsReadBlockParams,
      { handleId: 'h', offset: 0, len: null },
      'invalid type: null, expected usize',
    ],
    [protocol.FsWriteBlockParams, { handleId: 'h', offset: 0, chunk: 'R' }, 'Invalid input length: 1'],
    [protocol.FsCloseParams, {}, 'missing field `handleId`'],
    [protocol.FsCreateDirectoryParams, { path, recursive: null }, undefined],
    [
      protocol.FsCreateDirectoryParams,
      [path, false],
      'invalid length 3, expected struct WireFsCreateDirectoryParams with 4 elements',
    ],
    [protocol.FsGetMetadataParams, [path, true, null], undefined],
    [protocol.FsCanonicalizeParams, { path }, undefined],
    [
      protocol.FsReadDirectoryParams,
      { path, sandbox: 5 },
      'invalid type: number, expected struct WireFileSystemSandboxContext',
    ],
    [protocol.FsWalkParams, { path, options }, undefined],
    [protocol.FsWalkParams, [path, [1, 1, 1, false], null], undefined],
    [
      protocol.FsWalkParams,
      { path, options: { ...options, pruneHiddenDirectories: null } },
      'invalid type: null, expected a boolean',
    ],
    [protocol.FsWalkParams, { path, options: {} }, 'missing field `maxDepth`'],
    [protocol.FsRemoveParams, { path, recursive: null, force: null, followSymlinks: null }, undefined],
    [
      protocol.FsCopyParams,
      { sourcePath: path, destinationPath: path, recursive: null },
      'invalid type: null, expected a boolean',
    ],
    [protocol.FsWatchMissingParams, { watchId: 1, missing: [path], present: null }, undefined],
    [
      protocol.FsWatchMissingParams,
      { watchId: 1, missing: ['x'] },
      'invalid URI: relative URL without a base',
    ],
    [
      protocol.FsWatchMissingParams,
      [1, []],
      'invalid length 2, expected struct FsWatchMissingParams with 3 elements',
    ],
  ])('%# %#', (schema, params, problem) => {
    expect(problemOf(schema, params)).toBe(problem);
  });
});

it('reads the answers of the reference', () => {
  const metadata = {
    isDirectory: true,
    isFile: false,
    isSymlink: false,
    size: 4096,
    createdAtMs: 0,
    modifiedAtMs: 1,
  };
  expect(protocol.decodeResult(protocol.FsGetMetadataResult, metadata)).toEqual(metadata);
  const walk = { entries: [{ path, kind: 'directory' }], errors: [{ path, message: 'm' }], truncated: true };
  expect(protocol.decodeResult(protocol.FsWalkResult, walk)).toEqual(walk);
  expect(protocol.decodeResult(protocol.FsEmptyResult, {})).toEqual({});
});
