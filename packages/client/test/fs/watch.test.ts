import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createFileSystem } from '../../src/fs/create-file-system.js';
import type { FileChange, FileWatch } from '../../src/fs/watch.js';
import { MAX_QUEUED_CHANGES } from '../../src/fs/watch.js';
import { ExecServerClient } from '../../src/low-level/exec-server-client.js';
import { countCalls, failureOf, openFiles } from '../support/files.js';
import { scriptServer } from '../support/scripted-server.js';

/** The next change that fits. */
async function until(watch: FileWatch, fits: (change: FileChange) => boolean): Promise<FileChange> {
  for (;;) {
    const { done, value } = await watch.next();
    if (done) throw new Error('the watch is over');
    if (fits(value)) return value;
  }
}

describe('watch', () => {
  it('tells of what changes once it is armed, without being iterated yet', async () => {
    const { fs, path } = await openFiles();
    const watch = fs.watch(path());
    await watch.armed;
    writeFileSync(path('f'), 'x');
    expect(await until(watch, () => true)).toEqual({ type: 'created', path: path('f') });
    rmSync(path('f'));
    expect(await until(watch, ({ type }) => type === 'removed')).toEqual({
      type: 'removed',
      path: path('f'),
    });
    await watch.return();
  });

  it('sees below with `recursive` alone', async () => {
    const { fs, path } = await openFiles();
    mkdirSync(path('d/sub'), { recursive: true });
    const flat = fs.watch(path());
    const deep = fs.watch(path(), { recursive: true });
    await Promise.all([flat.armed, deep.armed]);
    writeFileSync(path('d/sub/f'), 'x');
    expect(await until(deep, ({ path: changed }) => changed.endsWith('f'))).toMatchObject({
      path: path('d/sub/f'),
    });
    writeFileSync(path('g'), 'x');
    expect(await until(flat, () => true)).toMatchObject({ path: path('g') });
    await Promise.all([flat.return(), deep.return()]);
  });

  it('says why it cannot watch, to both who ask', async () => {
    const { fs, path } = await openFiles();
    const watch = fs.watch(path('missing'));
    expect(await failureOf(watch.armed)).toMatchObject({ errno: 'ENOENT', operation: 'watch' });
    expect(await failureOf(watch.next())).toMatchObject({ errno: 'ENOENT' });
    expect(await watch.next()).toEqual({ done: true, value: undefined });
  });

  it('ends without an error by its signal, and gives the watch back', async () => {
    const { fs, path, client } = await openFiles();
    const unwatches = countCalls(client, 'fs/unwatch');
    const abort = new AbortController();
    const watch = fs.watch(path(), { signal: abort.signal });
    await watch.armed;
    const next = watch.next();
    abort.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(unwatches.total).toBe(1);
    const late = fs.watch(path(), { signal: abort.signal });
    expect(await late.next()).toEqual({ done: true, value: undefined });
    expect(await failureOf(late.armed)).toBe(abort.signal.reason);
  });

  it('leaving the loop gives the watch back', async () => {
    const { fs, path, client } = await openFiles();
    const unwatches = countCalls(client, 'fs/unwatch');
    const watch = fs.watch(path());
    await watch.armed;
    writeFileSync(path('f'), 'x');
    for await (const change of watch) {
      expect(change.path).toBe(path('f'));
      break;
    }
    expect(unwatches.total).toBe(1);
  });

  it('after a lost connection it watches again, and tells that something may be missed', async () => {
    const { fs, path, dialer } = await openFiles();
    const watch = fs.watch(path());
    await watch.armed;
    dialer.cut();
    writeFileSync(path('unseen'), 'x');
    expect(await until(watch, ({ type }) => type === 'overflow')).toEqual({ type: 'overflow', path: path() });
    writeFileSync(path('seen'), 'x');
    expect(await until(watch, ({ path: changed }) => changed === path('seen'))).toMatchObject({
      type: 'created',
    });
    await watch.return();
  });

  it('throws where the connection cannot be made again', async () => {
    const { fs, path, dialer } = await openFiles({}, { reconnect: false });
    const watch = fs.watch(path());
    await watch.armed;
    const next = watch.next();
    dialer.cut();
    expect(await failureOf(next)).toMatchObject({ code: 'connection_lost' });
    expect(await watch.next()).toEqual({ done: true, value: undefined });
  });

  it('ends with its client', async () => {
    const { fs, path, client } = await openFiles();
    const watch = fs.watch(path());
    await watch.armed;
    const next = failureOf(watch.next());
    await client.close();
    expect(await next).toMatchObject({ code: 'connection_lost' });
  });

  it('throws when what it watched is gone after a lost connection', async () => {
    const { fs, path, dialer } = await openFiles();
    mkdirSync(path('d'));
    const watch = fs.watch(path('d'));
    await watch.armed;
    dialer.cut();
    rmSync(path('d'), { recursive: true });
    expect(await failureOf(until(watch, () => false))).toMatchObject({ errno: 'ENOENT' });
  });

  it.each([
    [MAX_QUEUED_CHANGES - 1, MAX_QUEUED_CHANGES - 1, 'created'],
    [MAX_QUEUED_CHANGES, MAX_QUEUED_CHANGES, 'created'],
    [MAX_QUEUED_CHANGES + 1, 1, 'overflow'],
  ])('%i changes that nobody took are %i, the first %s', async (count, kept, type) => {
    const server = scriptServer(({ id, method, params }, { send }) => {
      const capabilities = { fsWatch: true };
      const shell = { name: 'sh', path: '/bin/sh' };
      if (method === 'initialize')
        send({ id, result: { sessionId: 's', environmentInfo: { shell, capabilities } } });
      if (method !== 'fs/watch') return;
      send({ id, result: {} });
      const { watchId } = params as { watchId: string };
      for (let i = 0; i < count; i++)
        send({
          method: 'fs/changed',
          params: { watchId, changes: [{ path: `file:///w/${i}`, kind: 'created' }] },
        });
      send({ method: 'fs/changed', params: { watchId: 'other', changes: [] } });
    });
    const client = new ExecServerClient(server.transport);
    const watch = createFileSystem(client).watch('/w');
    const last = new Promise<void>((resolve) => {
      client.on('fs/changed', ({ watchId }) => {
        if (watchId === 'other') resolve();
      });
    });
    await watch.armed;
    await last;
    expect((await watch.next()).value).toMatchObject({ type });
    let taken = 1;
    const closing = client.close();
    for (;;) {
      const { done } = await watch.next().catch(() => ({ done: true }));
      if (done) break;
      taken++;
    }
    await closing;
    expect(taken).toBe(kept);
  });
});
