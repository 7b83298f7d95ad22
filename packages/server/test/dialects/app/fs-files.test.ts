import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openAppClient } from '../../support/app-client.js';
import { openServer } from '../../support/session.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

const NO_SUCH_FILE = '-32603 No such file or directory (os error 2)';
const NOT_ABSOLUTE = '-32600 Invalid request: AbsolutePathBuf deserialized without a base path';

async function openFiles() {
  const directory = await makeTempDirectory();
  const wire = await openAppClient(openServer());
  return {
    directory,
    at: (name: string) => join(directory, name),
    /** Calls a method: its result, or `<code> <message>` where it failed. */
    call: async (method: string, params: unknown) => {
      const { result, error } = await wire.request(method, params);
      return error === undefined ? result : `${error.code} ${error.message}`;
    },
  };
}

describe('paths', () => {
  it('are absolute, and their dots are resolved by their text', async () => {
    const { at, call } = await openFiles();
    writeFileSync(at('f'), 'x');
    for (const path of [at('f'), `${at('nowhere')}/../f`, `${at('f')}/`, `/.${at('f')}`])
      expect(await call('fs/readFile', { path })).toEqual({ dataBase64: 'eA==' });
    for (const path of ['', 'f', './f', '~/f', `file://${at('f')}`])
      expect(await call('fs/readFile', { path })).toBe(NOT_ABSOLUTE);
  });

  it('with a NUL name nothing', async () => {
    const { at, call } = await openFiles();
    expect(await call('fs/readFile', { path: at('a\0b') })).toBe(
      '-32600 file name contained an unexpected NUL byte',
    );
  });

  it.each([
    ['fs/readFile', { path: 5 }, 'invalid type: integer `5`, expected path string'],
    ['fs/readFile', {}, 'missing field `path`'],
    ['fs/readFile', undefined, 'missing field `params`'],
    ['fs/writeFile', { path: '/f' }, 'missing field `dataBase64`'],
    ['fs/createDirectory', { path: '/d', recursive: 'x' }, 'invalid type: string "x", expected a boolean'],
    [
      'fs/copy',
      { sourcePath: '/f', destinationPath: '/g', recursive: null },
      'invalid type: null, expected a boolean',
    ],
  ])('%s %j', async (method, params, message) => {
    const { call } = await openFiles();
    expect(await call(method, params)).toBe(`-32600 Invalid request: ${message}`);
  });
});

describe('fs/readFile', () => {
  it('reads regular files and nothing else', async () => {
    const { directory, at, call } = await openFiles();
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    writeFileSync(at('f'), bytes);
    expect(await call('fs/readFile', { path: at('f') })).toEqual({ dataBase64: bytes.toString('base64') });
    expect(await call('fs/readFile', { path: directory })).toBe(`-32600 path \`${directory}\` is not a file`);
    expect(await call('fs/readFile', { path: at('none') })).toBe(NO_SUCH_FILE);
    expect(await call('fs/readFile', { path: at('f/below') })).toBe('-32603 Not a directory (os error 20)');
  });
});

describe('fs/writeFile', () => {
  it('replaces the content and follows links', async () => {
    const { at, call } = await openFiles();
    symlinkSync('f', at('link'));
    for (const content of ['longer than', 'the next'])
      expect(await call('fs/writeFile', { path: at('link'), dataBase64: btoa(content) })).toEqual({});
    expect(readFileSync(at('f'), 'utf8')).toBe('the next');
  });

  it('makes no directories', async () => {
    const { directory, at, call } = await openFiles();
    expect(await call('fs/writeFile', { path: at('d/f'), dataBase64: '' })).toBe(NO_SUCH_FILE);
    expect(await call('fs/writeFile', { path: directory, dataBase64: '' })).toBe(
      '-32603 Is a directory (os error 21)',
    );
  });

  it.each([
    ['***', 'Invalid symbol 42, offset 0.'],
    ['YQ', 'Invalid padding'],
    ['YR==', 'Invalid last symbol 82, offset 1.'],
  ])('refuses %s, and touches nothing', async (dataBase64, why) => {
    const { at, call } = await openFiles();
    expect(await call('fs/writeFile', { path: at('f'), dataBase64 })).toBe(
      `-32600 fs/writeFile requires valid base64 dataBase64: ${why}`,
    );
    expect(existsSync(at('f'))).toBe(false);
  });
});

describe('fs/createDirectory', () => {
  it('makes parents unless told not to', async () => {
    const { at, call } = await openFiles();
    for (const recursive of [undefined, null, true])
      expect(await call('fs/createDirectory', { path: at('a/b/c'), recursive })).toEqual({});
    expect(existsSync(at('a/b/c'))).toBe(true);
    expect(await call('fs/createDirectory', { path: at('x/y'), recursive: false })).toBe(NO_SUCH_FILE);
    expect(await call('fs/createDirectory', { path: at('a'), recursive: false })).toBe(
      '-32603 File exists (os error 17)',
    );
  });

  it('does not take a file for one', async () => {
    const { at, call } = await openFiles();
    writeFileSync(at('f'), '');
    expect(await call('fs/createDirectory', { path: at('f') })).toBe('-32603 File exists (os error 17)');
    expect(await call('fs/createDirectory', { path: at('f/x') })).toBe(
      '-32603 Not a directory (os error 20)',
    );
  });
});

describe('fs/getMetadata', () => {
  it('describes what links lead to', async () => {
    const { directory, at, call } = await openFiles();
    writeFileSync(at('f'), 'x');
    utimesSync(at('f'), 1_000, 1_700_000_000);
    symlinkSync('f', at('link'));
    symlinkSync('nowhere', at('dangling'));
    const file = { isDirectory: false, isFile: true, createdAtMs: 0, modifiedAtMs: 1_700_000_000_000 };
    expect(await call('fs/getMetadata', { path: at('f') })).toEqual({ ...file, isSymlink: false });
    expect(await call('fs/getMetadata', { path: at('link') })).toEqual({ ...file, isSymlink: true });
    expect(await call('fs/getMetadata', { path: at('dangling') })).toBe(NO_SUCH_FILE);
    expect(await call('fs/getMetadata', { path: directory })).toEqual({
      isDirectory: true,
      isFile: false,
      isSymlink: false,
      createdAtMs: 0,
      modifiedAtMs: expect.any(Number),
    });
  });
});

describe('fs/readDirectory', () => {
  it('lists what there is, without links that lead nowhere', async () => {
    const { directory, at, call } = await openFiles();
    mkdirSync(at('d'));
    writeFileSync(at('f'), '');
    symlinkSync('d', at('dirlink'));
    symlinkSync('nowhere', at('dangling'));
    const { entries } = (await call('fs/readDirectory', { path: directory })) as { entries: object[] };
    expect(entries).toHaveLength(3);
    expect(entries).toEqual(
      expect.arrayContaining([
        { fileName: 'd', isDirectory: true, isFile: false },
        { fileName: 'dirlink', isDirectory: true, isFile: false },
        { fileName: 'f', isDirectory: false, isFile: true },
      ]),
    );
    expect(await call('fs/readDirectory', { path: at('f') })).toBe('-32603 Not a directory (os error 20)');
    expect(await call('fs/readDirectory', { path: at('none') })).toBe(NO_SUCH_FILE);
  });
});

describe('fs/remove', () => {
  it('removes trees, and what is not there, unless told not to', async () => {
    const { at, call } = await openFiles();
    mkdirSync(at('d/e'), { recursive: true });
    expect(await call('fs/remove', { path: at('d'), recursive: false })).toBe(
      '-32603 Directory not empty (os error 39)',
    );
    expect(await call('fs/remove', { path: at('d'), recursive: null, force: null })).toEqual({});
    expect(existsSync(at('d'))).toBe(false);
    expect(await call('fs/remove', { path: at('d') })).toEqual({});
    expect(await call('fs/remove', { path: at('d'), force: false })).toBe(NO_SUCH_FILE);
  });

  it('removes a link and not what it leads to', async () => {
    const { at, call } = await openFiles();
    mkdirSync(at('d'));
    symlinkSync('d', at('link'));
    expect(await call('fs/remove', { path: at('link') })).toEqual({});
    expect(existsSync(at('d'))).toBe(true);
  });
});

describe('fs/copy', () => {
  it('copies files, links and, when told so, directories', async () => {
    const { at, call } = await openFiles();
    mkdirSync(at('d'));
    writeFileSync(at('d/f'), 'x');
    symlinkSync('f', at('d/link'));
    expect(await call('fs/copy', { sourcePath: at('d/f'), destinationPath: at('g') })).toEqual({});
    expect(readFileSync(at('g'), 'utf8')).toBe('x');
    const copy = { sourcePath: at('d'), destinationPath: at('e') };
    expect(await call('fs/copy', copy)).toBe(
      '-32600 fs/copy requires recursive: true when sourcePath is a directory',
    );
    expect(await call('fs/copy', { ...copy, recursive: true })).toEqual({});
    expect(readlinkSync(at('e/link'))).toBe('f');
  });

  it('refuses what has no end or no content', async () => {
    const { at, call } = await openFiles();
    mkdirSync(at('d'));
    execFileSync('mkfifo', [at('fifo')]);
    expect(await call('fs/copy', { sourcePath: at('d'), destinationPath: at('d/in'), recursive: true })).toBe(
      '-32600 fs/copy cannot copy a directory to itself or one of its descendants',
    );
    expect(await call('fs/copy', { sourcePath: at('fifo'), destinationPath: at('fifo2') })).toBe(
      '-32600 fs/copy only supports regular files, directories, and symlinks',
    );
    expect(await call('fs/copy', { sourcePath: at('none'), destinationPath: at('n') })).toBe(NO_SUCH_FILE);
    expect(await call('fs/copy', { sourcePath: at('d'), destinationPath: 'relative' })).toBe(NOT_ABSOLUTE);
  });
});
