import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { type FileSession, openFileSession } from '../../../support/files.js';
import {
  FOREIGN_RULE,
  pattern,
  READ_ROOT,
  requireSandbox,
  rule,
  sandboxOf,
  special,
} from '../../../support/sandbox.js';

beforeEach(requireSandbox);

const READ_ONLY = '-32603 Read-only file system (os error 30)';
const MISSING = '-32004 No such file or directory (os error 2)';
const DENIED = '-32600 Permission denied (os error 13)';
const walkOptions = { maxDepth: 1, maxDirectories: 9, maxEntries: 9, followDirectorySymlinks: false };

/** A directory to write in, one to read in, and one that no rule is about; each with a file and a link to it. */
async function openDirectories(): Promise<FileSession> {
  const session = await openFileSession();
  for (const name of ['write', 'read', 'none']) {
    mkdirSync(session.path(name));
    writeFileSync(session.path(`${name}/file`), name);
    symlinkSync('file', session.path(`${name}/link`));
  }
  return session;
}

const rulesOf = ({ path }: FileSession) => [rule(path('write'), 'write'), rule(path('read'), 'read')];

/** Calls with the file, or with a new name beside it. */
type Call = (uri: (name: string) => string) => [method: string, params: object];

const READS: readonly Call[] = [
  (uri) => ['fs/readFile', { path: uri('file') }],
  (uri) => ['fs/readFile', { path: uri('file'), followSymlinks: false }],
  (uri) => ['fs/getMetadata', { path: uri('file'), full: true }],
  (uri) => ['fs/getMetadata', { path: uri('link'), describeLink: true }],
  (uri) => ['fs/canonicalize', { path: uri('link') }],
  (uri) => ['fs/readDirectory', { path: uri('') }],
  (uri) => ['fs/walk', { path: uri(''), options: walkOptions }],
  (uri) => ['fs/readLink', { path: uri('link') }],
];

const CHANGES: readonly Call[] = [
  (uri) => ['fs/writeFile', { path: uri('new'), dataBase64: 'aGk=' }],
  (uri) => ['fs/writeFile', { path: uri('file'), dataBase64: 'aGk=', followSymlinks: false }],
  (uri) => ['fs/writeFile', { path: uri('file'), dataBase64: 'aGk=', atomic: true }],
  (uri) => ['fs/createDirectory', { path: uri('new/deep') }],
  (uri) => ['fs/copy', { sourcePath: uri('file'), destinationPath: uri('new'), recursive: false }],
  (uri) => ['fs/rename', { sourcePath: uri('file'), destinationPath: uri('new') }],
  (uri) => ['fs/setMode', { path: uri('file'), mode: 0o600 }],
  (uri) => ['fs/symlink', { path: uri('new'), target: 'file' }],
  (uri) => ['fs/remove', { path: uri('file') }],
  (uri) => ['fs/open', { handleId: 'h', path: uri('new'), mode: 'replace' }],
];

const nameOf = (call: Call) => JSON.stringify(call((name) => `…/${name}`));

describe.each(READS.map((call) => [nameOf(call), call] as const))('%s', (_, call) => {
  it('says the same as without a sandbox where it may read', async () => {
    const session = await openDirectories();
    const sandbox = sandboxOf(rulesOf(session));
    for (const place of ['write', 'read']) {
      const [method, params] = call((name) => session.uri(`${place}/${name}`));
      expect(await session.call(method, { ...params, sandbox })).toEqual(await session.call(method, params));
    }
  });

  it('finds nothing where it may not', async () => {
    const session = await openDirectories();
    const [method, params] = call((name) => session.uri(`none/${name}`));
    expect(await session.call(method, { ...params, sandbox: sandboxOf(rulesOf(session)) })).toBe(MISSING);
  });
});

describe.each(CHANGES.map((call) => [nameOf(call), call] as const))('%s', (_, call) => {
  it('works where it may write, and is refused where it may read', async () => {
    const session = await openDirectories();
    const sandbox = sandboxOf(rulesOf(session));
    const [method, params] = call((name) => session.uri(`write/${name}`));
    expect(await session.call(method, { ...params, sandbox })).not.toEqual(expect.any(String));
    const [, refused] = call((name) => session.uri(`read/${name}`));
    expect(await session.call(method, { ...refused, handleId: 'i', sandbox })).toBe(READ_ONLY);
  });
});

describe('a rule', () => {
  it('that denies hides what is there, below a directory that may be written as well', async () => {
    const session = await openDirectories();
    const sandbox = sandboxOf([
      READ_ROOT,
      rule(session.path('write'), 'write'),
      rule(session.path('write/file'), 'deny'),
    ]);
    const path = session.uri('write/file');
    expect(await session.call('fs/readFile', { path, sandbox })).toBe(DENIED);
    expect(await session.call('fs/open', { handleId: 'h', path, sandbox })).toBe(DENIED);
    expect(await session.call('fs/writeFile', { path, dataBase64: '', sandbox })).toBe(READ_ONLY);
    expect(await session.call('fs/remove', { path, sandbox })).toBe('-32603 Resource busy (os error 16)');
    expect(readFileSync(session.path('write/file'), 'utf8')).toBe('write');
  });

  it('that denies where a walk begins is told in the answer, as of any directory in it', async () => {
    const session = await openDirectories();
    const path = session.uri('write');
    const sandbox = sandboxOf([READ_ROOT, rule(session.path('write'), 'deny')]);
    expect(await session.call('fs/walk', { path, options: walkOptions, sandbox })).toEqual({
      entries: [],
      errors: [{ path, message: 'Permission denied (os error 13)' }],
      truncated: false,
    });
  });

  it('keeps what does not exist from being made, and leaves nothing behind', async () => {
    const session = await openDirectories();
    const sandbox = sandboxOf([
      READ_ROOT,
      rule(session.path('write'), 'write'),
      rule(session.path('write/secret'), 'deny'),
    ]);
    for (const name of ['.git/hooks/post-commit', '.git'])
      expect(
        await session.call('fs/writeFile', { path: session.uri(`write/${name}`), dataBase64: '', sandbox }),
      ).toMatch(/^-32/);
    expect(await session.call('fs/createDirectory', { path: session.uri('write/secret'), sandbox })).toMatch(
      /^-326/,
    );
    expect(
      await session.call('fs/writeFile', { path: session.uri('write/f'), dataBase64: '', sandbox }),
    ).toEqual({});
    await session.close();
    expect(['.git', 'secret'].map((name) => existsSync(session.path(`write/${name}`)))).toEqual([
      false,
      false,
    ]);
  });
});

describe('a context', () => {
  it.each([
    [
      sandboxOf([special({ kind: 'project_roots' }, 'write')]),
      '-32602 file system sandbox context with dynamic permissions requires cwd',
    ],
    [
      sandboxOf([pattern('*.env', 'deny')]),
      '-32602 file system sandbox context with dynamic permissions requires cwd',
    ],
    [
      sandboxOf([FOREIGN_RULE]),
      "-32600 invalid sandbox permission path URI: 'file:///C:/x' is invalid on 'linux'",
    ],
  ])('that means nothing here is refused: %#', async (sandbox, expected) => {
    const { call, uri } = await openFileSession();
    for (const [method, params] of [
      ['fs/getMetadata', { path: uri() }],
      ['fs/open', { handleId: 'h', path: uri() }],
      ['fs/watch', { watchId: 'w', path: uri() }],
    ] as const)
      expect(await call(method, { ...params, sandbox })).toBe(expected);
  });

  it('that takes nothing away from a request needs no sandbox', async () => {
    const { call, path, uri } = await openFileSession();
    writeFileSync(path('f'), '');
    const contexts = [
      sandboxOf([special({ kind: 'root' }, 'write')], { network: 'enabled' }),
      { ...sandboxOf([]), permissions: { type: 'disabled' } },
      { ...sandboxOf([]), permissions: { type: 'external', network: 'enabled' } },
    ];
    for (const sandbox of contexts) {
      // Inside of a sandbox it would be another process.
      const status = await call('fs/readFile', { path: 'file:///proc/self/stat', sandbox });
      const text = Buffer.from((status as { dataBase64: string }).dataBase64, 'base64').toString();
      expect(text).toMatch(new RegExp(`^${process.pid} `));
      expect(await call('fs/setMode', { path: uri('f'), mode: 0o600, sandbox })).toEqual({});
    }
  });
});
