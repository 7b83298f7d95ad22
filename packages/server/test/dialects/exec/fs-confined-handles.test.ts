import { spawnSync } from 'node:child_process';
import { mkdir, readFile, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxContext } from '@exec-server/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeFileTree } from '../../support/file-tree.js';
import {
  FOREIGN_RULE,
  READ_ROOT,
  requireBackend,
  rule,
  sandboxOf,
  VIEW_BACKENDS,
} from '../../support/sandbox.js';
import { openServer, openSession } from '../../support/session.js';

const DENIED = '-32600 Permission denied (os error 13)';
const MISSING = '-32004 No such file or directory (os error 2)';
const READ_ONLY = '-32603 Read-only file system (os error 30)';
const OK = 'ok';

/** What is tried, what comes of it where everything else may be read, and where nothing else is there. */
const CASES: readonly [mode: 'read' | 'replace', path: string, withRest: string, alone: string][] = [
  ['read', 'w/file', OK, OK],
  ['read', 'secret/file', DENIED, MISSING],
  ['read', 'w/to-secret', DENIED, MISSING],
  ['read', 'outside/file', OK, MISSING],
  ['read', 'w/to-outside', OK, MISSING],
  ['read', 'ro/file', OK, OK],
  ['read', 'w/missing', MISSING, MISSING],
  ['read', 'missing/file', MISSING, MISSING],
  ['read', 'w', '-32600 path `ROOT/w` is not a file', '-32600 path `ROOT/w` is not a file'],
  ['read', 'w/fifo', '-32600 path `ROOT/w/fifo` is not a file', '-32600 path `ROOT/w/fifo` is not a file'],
  ['replace', 'w/file', OK, OK],
  ['replace', 'w/new', OK, OK],
  ['replace', 'secret/file', DENIED, MISSING],
  ['replace', 'w/to-secret', DENIED, MISSING],
  ['replace', 'outside/file', READ_ONLY, MISSING],
  ['replace', 'outside/new', READ_ONLY, MISSING],
  ['replace', 'w/to-outside', READ_ONLY, MISSING],
  ['replace', 'w/dangling', READ_ONLY, READ_ONLY],
  ['replace', 'ro/file', READ_ONLY, READ_ONLY],
  ['replace', 'missing/file', MISSING, MISSING],
  ['replace', 'w', '-32603 Is a directory (os error 21)', '-32603 Is a directory (os error 21)'],
  ['replace', 'w/fifo', ...twice('-32603 No such device or address (os error 6)')],
];

function twice(text: string): [string, string] {
  return [text, text];
}

describe.each(VIEW_BACKENDS)('by %s', (backend) => {
  beforeEach((test) => requireBackend(test, backend));

  async function open() {
    const root = await makeFileTree({
      'w/file': 'mine',
      'secret/file': 'secret',
      'outside/file': 'outside',
      'ro/file': 'read',
    });
    await symlink(join(root, 'secret/file'), join(root, 'w/to-secret'));
    await symlink(join(root, 'outside/file'), join(root, 'w/to-outside'));
    await symlink('/nothing-of-exec-server', join(root, 'w/dangling'));
    spawnSync('mkfifo', [join(root, 'w/fifo')]);
    const wire = await openSession(openServer({ sandboxBackend: backend }));
    const uri = (path: string) => `file://${root}/${path}`;
    const withRest = sandboxOf([
      READ_ROOT,
      rule(join(root, 'w'), 'write'),
      rule(join(root, 'secret'), 'deny'),
    ]);
    const alone = sandboxOf([rule(join(root, 'w'), 'write'), rule(join(root, 'ro'), 'read')]);
    const openFile = async (handleId: string, path: string, mode: string, sandbox: SandboxContext) => {
      const { error } = await wire.request('fs/open', { handleId, path: uri(path), mode, sandbox });
      return error === undefined ? OK : `${error.code} ${error.message.replace(root, 'ROOT')}`;
    };
    return { root, wire, uri, withRest, alone, openFile };
  }

  it('a file is opened, or is not, as the sandbox says', async () => {
    const { root, wire, withRest, alone, openFile } = await open();
    const seen: (typeof CASES)[number][] = [];
    for (const [mode, path] of CASES) {
      const outcomes: string[] = [];
      for (const sandbox of [withRest, alone]) {
        outcomes.push(await openFile('h', path, mode, sandbox));
        await wire.request('fs/close', { handleId: 'h' });
      }
      seen.push([mode, path, outcomes[0] ?? '', outcomes[1] ?? '']);
    }
    expect(seen).toEqual(CASES);
    // What was refused has lost nothing.
    expect(await readFile(join(root, 'secret/file'), 'utf8')).toBe('secret');
    expect(await readFile(join(root, 'outside/file'), 'utf8')).toBe('outside');
    expect(await readFile(join(root, 'ro/file'), 'utf8')).toBe('read');
  });

  it('the sandbox counts when the file is opened; an open one is read and written wherever it is moved', async () => {
    const { root, wire, withRest, openFile } = await open();
    expect(await openFile('r', 'w/file', 'read', withRest)).toBe(OK);
    await mkdir(join(root, 'w/deep'));
    expect(await openFile('w', 'w/deep/new', 'replace', withRest)).toBe(OK);
    await rename(join(root, 'w/file'), join(root, 'secret/moved'));
    await rename(join(root, 'w/deep/new'), join(root, 'outside/moved'));
    const read = await wire.request('fs/readBlock', { handleId: 'r', offset: 0, len: 100 });
    expect(read.result).toEqual({ chunk: btoa('mine'), eof: true });
    const chunk = btoa('written');
    expect((await wire.request('fs/writeBlock', { handleId: 'w', offset: 0, chunk })).error).toBeUndefined();
    expect(await readFile(join(root, 'outside/moved'), 'utf8')).toBe('written');
  });

  it('an id that is taken is refused first, one of a failed open is free, and foreign rules are refused', async () => {
    const { withRest, openFile } = await open();
    expect(await openFile('z', 'secret/file', 'read', withRest)).toBe(DENIED);
    expect(await openFile('z', 'w/file', 'read', withRest)).toBe(OK);
    expect(await openFile('z', 'secret/file', 'read', withRest)).toBe(
      '-32600 file handle `z` already exists',
    );
    expect(await openFile('y', 'w/file', 'read', sandboxOf([FOREIGN_RULE]))).toBe(
      "-32600 invalid sandbox permission path URI: 'file:///C:/x' is invalid on 'linux'",
    );
  });
});
