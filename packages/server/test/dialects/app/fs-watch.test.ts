import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecServerOptions } from '@exec-server/server';
import { describe, expect, it } from 'vitest';
import { MAX_APP_WATCH_ID_BYTES } from '../../../src/dialects/app/fs-watch.js';
import { openAppClient } from '../../support/app-client.js';
import { openServer, openSession } from '../../support/session.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

async function openWatching(options: ExecServerOptions = {}) {
  const directory = await makeTempDirectory();
  const server = openServer(options);
  const wire = await openAppClient(server);
  const at = (name: string) => join(directory, name);
  const call = async (method: string, params: object) => {
    const { result, error } = await wire.request(method, params);
    return error === undefined ? result : `${error.code} ${error.message}`;
  };
  return {
    server,
    wire,
    directory,
    at,
    call,
    watch: (watchId: string, name: string) => call('fs/watch', { watchId, path: at(name) }),
    /** The paths of the next notification of a watch. */
    changes: async (watchId: string) => {
      const message = await wire.next(
        ({ method, params }) => method === 'fs/changed' && params?.watchId === watchId,
        `fs/changed of ${watchId}`,
      );
      expect(message).toEqual({
        method: 'fs/changed',
        params: { watchId, changedPaths: expect.any(Array) },
        emittedAtMs: expect.any(Number),
      });
      return message.params?.changedPaths;
    },
  };
}

it('answers with the path as it is watched', async () => {
  const { call, at } = await openWatching();
  expect(await call('fs/watch', { watchId: 'w', path: `${at('d')}/../e/` })).toEqual({ path: at('e') });
});

it('tells of a file, also after something else took its place', async () => {
  const { at, watch, changes } = await openWatching();
  writeFileSync(at('f'), '1');
  await watch('w', 'f');
  writeFileSync(at('f'), '2');
  expect(await changes('w')).toEqual([at('f')]);
  writeFileSync(at('new'), '3');
  renameSync(at('new'), at('f'));
  expect(await changes('w')).toEqual([at('f')]);
  writeFileSync(at('f'), '4');
  expect(await changes('w')).toEqual([at('f')]);
});

it('tells of what is in a directory at once, sorted, and not of what is further below', async () => {
  const { at, watch, changes } = await openWatching();
  mkdirSync(at('d/sub'), { recursive: true });
  await watch('w', 'd');
  writeFileSync(at('d/sub/x'), '');
  writeFileSync(at('d/b'), '');
  writeFileSync(at('d/a'), '');
  writeFileSync(at('d/b'), 'again');
  expect(await changes('w')).toEqual([at('d/a'), at('d/b')]);
  renameSync(at('d/a'), at('d/c'));
  expect(await changes('w')).toEqual([at('d/a'), at('d/c')]);
});

it('tells of a directory that goes with what was in it, and comes again', async () => {
  const { at, watch, changes } = await openWatching();
  mkdirSync(at('d/e'), { recursive: true });
  await watch('w', 'd');
  rmSync(at('d'), { recursive: true });
  expect(await changes('w')).toEqual([at('d'), at('d/e')]);
  mkdirSync(at('d'));
  expect(await changes('w')).toEqual([at('d')]);
  writeFileSync(at('d/f'), '');
  expect(await changes('w')).toEqual([at('d/f')]);
});

it('waits for a path of which nothing exists yet', async () => {
  const { at, watch, changes } = await openWatching();
  expect(await watch('w', 'a/b/f')).toEqual({ path: at('a/b/f') });
  mkdirSync(at('a/b'), { recursive: true });
  writeFileSync(at('a/b/f'), '');
  expect(await changes('w')).toEqual([at('a/b/f')]);
  writeFileSync(at('a/b/f'), 'again');
  expect(await changes('w')).toEqual([at('a/b/f')]);
});

it('waits below a file until it is a directory', async () => {
  const { at, watch, changes } = await openWatching();
  writeFileSync(at('d'), '');
  await watch('w', 'd/f');
  rmSync(at('d'));
  mkdirSync(at('d'));
  writeFileSync(at('d/f'), '');
  expect(await changes('w')).toEqual([at('d/f')]);
});

it('says nothing any more once fs/unwatch is answered', async () => {
  const { wire, at, call, watch, changes } = await openWatching();
  await watch('gone', '.');
  await watch('stays', '.');
  writeFileSync(at('f'), '');
  expect(await call('fs/unwatch', { watchId: 'gone' })).toEqual({});
  await changes('stays');
  expect(wire.received.filter(({ params }) => params?.watchId === 'gone')).toEqual([]);
});

it('fs/unwatch of an unknown watch is fine', async () => {
  const { call } = await openWatching();
  expect(await call('fs/unwatch', { watchId: 'never' })).toEqual({});
});

it('a watch can be set again under the same id once it was removed', async () => {
  const { call, at, watch, changes } = await openWatching();
  await watch('w', 'd');
  expect(await watch('w', 'e')).toBe('-32600 watchId already exists: w');
  await call('fs/unwatch', { watchId: 'w' });
  await watch('w', 'e');
  writeFileSync(at('e'), '');
  expect(await changes('w')).toEqual([at('e')]);
});

it('the same id on two connections, of different dialects, is two watches', async () => {
  const { server, at, watch, changes } = await openWatching();
  const other = await openSession(server);
  await watch('w', 'f');
  writeFileSync(at('g'), '');
  expect(await other.request('fs/watch', { watchId: 'w', path: `file://${at('g')}` })).toMatchObject({
    result: {},
  });
  writeFileSync(at('f'), '');
  writeFileSync(at('g'), 'changed');
  expect(await changes('w')).toEqual([at('f')]);
  const told = await other.next(({ method }) => method === 'fs/changed', 'fs/changed');
  expect(told.params?.changes).toEqual([{ path: `file://${at('g')}`, kind: 'modified' }]);
});

describe('limits', () => {
  it('of the id', async () => {
    const { watch } = await openWatching();
    for (const length of [0, MAX_APP_WATCH_ID_BYTES - 1, MAX_APP_WATCH_ID_BYTES])
      expect(await watch('x'.repeat(length), '.')).toBeTypeOf('object');
    expect(await watch('x'.repeat(MAX_APP_WATCH_ID_BYTES + 1), '.')).toBe(
      `-32600 watchId must not exceed ${MAX_APP_WATCH_ID_BYTES} bytes`,
    );
  });

  it('of watches', async () => {
    const { watch } = await openWatching({ fileWatches: 2 });
    expect(await watch('1', '.')).toBeTypeOf('object');
    expect(await watch('2', '.')).toBeTypeOf('object');
    expect(await watch('3', '.')).toBe('-32600 at most 2 watches may be set per connection');
  });

  it('of changes that wait to be told: then the watched path stands for all', async () => {
    const { at, watch, changes, directory } = await openWatching({ pendingFileChanges: 2 });
    await watch('w', '.');
    for (const name of ['a', 'b', 'c']) writeFileSync(at(name), '');
    expect(await changes('w')).toEqual([directory]);
  });
});

it('refuses what no watch can see', async () => {
  const { call } = await openWatching();
  expect(await call('fs/watch', { watchId: 'p', path: '/proc/none/such' })).toBe(
    '-32600 this file system does not tell of its changes',
  );
  expect(await call('fs/watch', { watchId: 'n', path: '/tmp/a\0b' })).toBe(
    '-32600 file name contained an unexpected NUL byte',
  );
  expect(await call('fs/watch', { watchId: 'r', path: 'relative' })).toBe(
    '-32600 Invalid request: AbsolutePathBuf deserialized without a base path',
  );
});
