import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import type { FsWalkResult } from '@exec-server/protocol';
import { describe, expect, it } from 'vitest';
import { makeDeepTree, openFileSession } from '../../support/files.js';

const OPTIONS = { maxDepth: 64, maxDirectories: 10_000, maxEntries: 50_000, followDirectorySymlinks: false };
const FOLLOWING = { followDirectorySymlinks: true };
const MISSING = 'No such file or directory (os error 2)';

/** What a walk found: paths below the test's directory, those of directories with a slash at the end. */
interface Found {
  readonly entries: string[];
  readonly errors: string[];
  readonly truncated: boolean;
}

async function openTree() {
  const session = await openFileSession();
  const { path, uri, call } = session;
  for (const name of ['w/a/x', 'w/b/x', 'w/.h/x']) mkdirSync(path(name), { recursive: true });
  for (const name of ['w/f', 'w/a/x/f1', 'w/b/x/f2', 'outside']) writeFileSync(path(name), '');
  symlinkSync('../b', path('w/a/tob'));
  symlinkSync('..', path('w/a/up'));
  symlinkSync('../f', path('w/a/flink'));
  symlinkSync('nowhere', path('w/broken'));
  symlinkSync('loop', path('w/loop'));
  symlinkSync('.h', path('w/vis'));
  execFileSync('mkfifo', [path('w/fifo')]);
  symlinkSync('w', path('wlink'));
  symlinkSync('nowhere', path('broken'));
  symlinkSync('loop', path('loop'));
  const walk = async (name: string, options: object = {}): Promise<Found | string> => {
    const answer = await call('fs/walk', { path: uri(name), options: { ...OPTIONS, ...options } });
    if (typeof answer === 'string') return answer;
    const { entries, errors, truncated } = answer as FsWalkResult;
    const below = (path: string) => path.slice(uri().length);
    return {
      entries: entries.map(({ path, kind }) => below(path) + (kind === 'directory' ? '/' : '')),
      errors: errors.map(({ path, message }) => `${below(path)}: ${message}`),
      truncated,
    };
  };
  return { ...session, walk };
}

const found = (entries: string[], truncated = false, errors: string[] = []): Found => ({
  entries,
  errors,
  truncated,
});

it('goes breadth first, by name, and lists no links, no special files', async () => {
  const { walk } = await openTree();
  expect(await walk('w')).toEqual(
    found(['/w/.h/', '/w/a/', '/w/b/', '/w/f', '/w/.h/x/', '/w/a/x/', '/w/b/x/', '/w/a/x/f1', '/w/b/x/f2']),
  );
});

it('follows links to directories, enters each directory once, by its first name', async () => {
  const { walk } = await openTree();
  expect(await walk('w', FOLLOWING)).toEqual(
    found([
      '/w/.h/',
      '/w/a/',
      '/w/b/',
      '/w/f',
      '/w/vis/',
      '/w/.h/x/',
      '/w/a/tob/',
      '/w/a/up/',
      '/w/a/x/',
      '/w/b/x/',
      '/w/a/x/f1',
      '/w/b/x/f2',
    ]),
  );
});

it('lists hidden directories without entering them, and leaves them to other names', async () => {
  const { walk } = await openTree();
  const options = { ...FOLLOWING, pruneHiddenDirectories: true };
  expect(await walk('w', options)).toEqual(
    found([
      '/w/.h/',
      '/w/a/',
      '/w/b/',
      '/w/f',
      '/w/vis/',
      '/w/a/tob/',
      '/w/a/up/',
      '/w/a/x/',
      '/w/b/x/',
      '/w/vis/x/',
      '/w/a/x/f1',
      '/w/b/x/f2',
    ]),
  );
  expect(await walk('w/.h', options)).toEqual(found(['/w/.h/x/']));
});

it('sorts by bytes', async () => {
  const { walk, path } = await openTree();
  const names = ['B', '_', 'a', 'a b', 'a-b', 'ab', 'é', '\uff61', '\u{10000}'];
  mkdirSync(path('s'));
  for (const name of names.toReversed()) writeFileSync(path(`s/${name}`), '');
  expect(await walk('s')).toEqual(found(names.map((name) => `/s/${encodeURIComponent(name)}`)));
});

it('tells of names that are no text', async () => {
  const { walk, path } = await openTree();
  mkdirSync(path('s/d'), { recursive: true });
  for (const name of ['s/bad', 's/d/bad'])
    writeFileSync(Buffer.concat([Buffer.from(path(name)), Buffer.from([0xff])]), '');
  expect(await walk('s')).toEqual(
    found(['/s/d/'], false, [`/s/bad%EF%BF%BD: ${MISSING}`, `/s/d/bad%EF%BF%BD: ${MISSING}`]),
  );
});

it('tells of directories that cannot be read', async () => {
  const { walk, path, uri, call } = await openTree();
  makeDeepTree(path('deep'));
  const { entries, errors, truncated } = (await walk('deep')) as Found;
  expect(entries.length).toBeGreaterThan(12);
  expect(errors).toEqual([expect.stringMatching(/: Filename too long \(os error 36\)$/)]);
  expect(truncated).toBe(false);
  // Too deep for what clears away the test's directory.
  await call('fs/remove', { path: uri('deep') });
});

describe('the root', () => {
  it.each([
    ['outside', {}, found([])],
    ['w/fifo', {}, found([])],
    ['wlink', {}, found([])],
    [
      'wlink',
      { ...FOLLOWING, maxDepth: 0 },
      found(['/wlink/.h/', '/wlink/a/', '/wlink/b/', '/wlink/f', '/wlink/vis/']),
    ],
    ['missing', {}, `-32004 ${MISSING}`],
    ['broken', {}, `-32004 ${MISSING}`],
    ['broken', FOLLOWING, `-32004 ${MISSING}`],
    ['loop', {}, '-32603 Symbolic link loop (os error 40)'],
    ['outside/x', {}, '-32603 Not a directory (os error 20)'],
  ])('%s %j: %j', async (name, options, outcome) => {
    const { walk } = await openTree();
    expect(await walk(name, options)).toEqual(outcome);
  });

  it('keeps the spelling that the client gave it', async () => {
    const { uri, call } = await openTree();
    for (const spelling of ['w/a%2F..%2Fb', 'w/b', 'w/b/']) {
      const root = `${uri()}/${spelling}`;
      const { entries } = (await call('fs/walk', { path: root, options: OPTIONS })) as FsWalkResult;
      expect(entries[0]?.path).toBe(`${root.replace(/\/$/, '')}/x`);
    }
  });
});

describe('limits', () => {
  const EXCEEDED =
    '-32600 filesystem walk limits exceed maximums: depth=64, directories=10000, entries=50000';
  const ZERO = '-32600 filesystem walk limits must be greater than zero';

  it.each([
    [{ maxDepth: 65 }, EXCEEDED],
    [{ maxDirectories: 10_001 }, EXCEEDED],
    [{ maxEntries: 50_001 }, EXCEEDED],
    [{ maxDirectories: 0 }, ZERO],
    [{ maxEntries: 0 }, ZERO],
    [{ maxEntries: 0, maxDepth: 65 }, ZERO],
  ])('%j: %s, before the path is looked at', async (options, error) => {
    const { walk } = await openTree();
    expect(await walk('missing', options)).toBe(error);
  });

  async function openGrid() {
    const session = await openTree();
    for (const name of ['a', 'b', 'c']) mkdirSync(session.path(`m/${name}/d`), { recursive: true });
    return session;
  }
  const FIRST = ['/m/a/', '/m/b/', '/m/c/'];

  it.each([
    [0, FIRST],
    [1, [...FIRST, '/m/a/d/', '/m/b/d/', '/m/c/d/']],
    [2, [...FIRST, '/m/a/d/', '/m/b/d/', '/m/c/d/']],
  ])('depth %i', async (maxDepth, entries) => {
    const { walk } = await openGrid();
    expect(await walk('m', { maxDepth })).toEqual(found(entries));
  });

  it.each([
    [1, FIRST, true],
    [2, [...FIRST, '/m/a/d/'], true],
    [6, [...FIRST, '/m/a/d/', '/m/b/d/', '/m/c/d/'], true],
    [7, [...FIRST, '/m/a/d/', '/m/b/d/', '/m/c/d/'], false],
    [8, [...FIRST, '/m/a/d/', '/m/b/d/', '/m/c/d/'], false],
  ])('%i directories', async (maxDirectories, entries, truncated) => {
    const { walk } = await openGrid();
    expect(await walk('m', { maxDirectories })).toEqual(found(entries, truncated));
  });

  it('directories that are known already take no place', async () => {
    const { walk, path } = await openGrid();
    symlinkSync('.', path('m/self'));
    const { truncated } = (await walk('m', { ...FOLLOWING, maxDirectories: 7 })) as Found;
    expect(truncated).toBe(false);
  });

  it.each([
    [1, ['/m/a/'], true],
    [5, [...FIRST, '/m/a/d/', '/m/b/d/'], true],
    [6, [...FIRST, '/m/a/d/', '/m/b/d/', '/m/c/d/'], false],
    [7, [...FIRST, '/m/a/d/', '/m/b/d/', '/m/c/d/'], false],
  ])('%i names', async (maxEntries, entries, truncated) => {
    const { walk } = await openGrid();
    expect(await walk('m', { maxEntries })).toEqual(found(entries, truncated));
  });

  it('names that are not listed count, broken links do not', async () => {
    const { walk } = await openTree();
    // .h a b f fifo vis
    const truncatedAt = async (maxEntries: number) => {
      const outcome = await walk('w', { maxEntries, maxDepth: 0 });
      return (outcome as Found).truncated;
    };
    expect([await truncatedAt(5), await truncatedAt(6), await truncatedAt(7)]).toEqual([true, false, false]);
  });
});

it('answers others meanwhile', async () => {
  const { wire, uri, path, call } = await openFileSession();
  mkdirSync(path('d'));
  for (let i = 0; i < 20_000; i++) writeFileSync(path(`d/${i}`), '');
  let isOver = false;
  const walk = wire.request('fs/walk', { path: uri('d'), options: OPTIONS }).finally(() => {
    isOver = true;
  });
  await call('environment/status', {});
  expect(isOver).toBe(false);
  expect((await walk).result).toMatchObject({ entries: { length: 20_000 }, truncated: false });
});
