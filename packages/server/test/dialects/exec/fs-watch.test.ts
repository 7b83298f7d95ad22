import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { MAX_CHANGES_PER_NOTIFICATION, MAX_WATCH_ID_BYTES, nativeToPathUri } from '@exec-server/protocol';
import { openInProcessWire } from '@exec-server/testing';
import { describe, expect, it, vi } from 'vitest';
import { openServer, openSession } from '../../support/session.js';
import { openWatching } from '../../support/watched.js';

const refused = (message: string) => ({ code: -32600, message });

/** Queues of the kernel that this process has. */
function countInotify(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === 'anon_inode:inotify';
    } catch {
      return false;
    }
  }).length;
}

describe('a watched file', () => {
  it('that is written, touched or changes its mode is modified', async () => {
    const { at, watch } = await openWatching();
    writeFileSync(at('f'), 'old');
    writeFileSync(at('sibling'), '');
    const watched = await watch('f');
    appendFileSync(at('f'), 'new');
    await watched.until('f', 'modified');
    utimesSync(at('f'), 1, 1);
    await watched.until('f', 'modified');
    appendFileSync(at('sibling'), 'new');
    chmodSync(at('f'), 0o600);
    await watched.until('f', 'modified');
    expect(new Set(watched.story)).toEqual(new Set(['modified f']));
  });

  it('survives being replaced by a rename, again and again', async () => {
    const { at, watch } = await openWatching();
    writeFileSync(at('f'), 'first');
    const watched = await watch('f');
    for (let round = 0; round < 3; round++) {
      writeFileSync(at('f.new'), `round ${round}`);
      renameSync(at('f.new'), at('f'));
      await watched.until('f', 'created');
      appendFileSync(at('f'), '.');
      await watched.until('f', 'modified');
    }
  });

  it('survives being removed and made again', async () => {
    const { at, watch } = await openWatching();
    writeFileSync(at('f'), '');
    const watched = await watch('f');
    rmSync(at('f'));
    await watched.until('f', 'removed');
    writeFileSync(at('f'), '');
    await watched.until('f', 'created');
    appendFileSync(at('f'), '.');
    await watched.until('f', 'modified');
  });

  it('survives its directories being removed and made again', async () => {
    const { at, watch } = await openWatching();
    mkdirSync(at('a/b'), { recursive: true });
    writeFileSync(at('a/b/f'), '');
    const watched = await watch('a/b/f');
    rmSync(at('a'), { recursive: true });
    await watched.until('a/b/f', 'removed');
    mkdirSync(at('a'));
    mkdirSync(at('a/b'));
    writeFileSync(at('a/b/f'), '');
    await watched.until('a/b/f', 'created');
    renameSync(at('a'), at('z'));
    await watched.until('a/b/f', 'removed');
    renameSync(at('z'), at('a'));
    await watched.until('a/b/f', 'created');
    appendFileSync(at('a/b/f'), '.');
    await watched.until('a/b/f', 'modified');
  });

  it('behind links is watched where it is, and where the links point', async () => {
    const { at, watch } = await openWatching();
    mkdirSync(at('one'));
    mkdirSync(at('two'));
    writeFileSync(at('one/f'), '');
    writeFileSync(at('two/f'), '');
    symlinkSync('one', at('current'));
    const watched = await watch('current/f');
    appendFileSync(at('one/f'), '.');
    await watched.until('current/f', 'modified');
    symlinkSync('two', at('next'));
    renameSync(at('next'), at('current'));
    await watched.until('current/f', 'created');
    appendFileSync(at('two/f'), '.');
    await watched.until('current/f', 'modified');
  });
});

describe('a watched directory', () => {
  it('tells of its entries, and not of what is below them', async () => {
    const { at, watch } = await openWatching();
    mkdirSync(at('d/below'), { recursive: true });
    const watched = await watch('d');
    writeFileSync(at('d/below/f'), '');
    writeFileSync(at('d/f'), '');
    await watched.until('d/f', 'created');
    appendFileSync(at('d/f'), '.');
    await watched.until('d/f', 'modified');
    renameSync(at('d/f'), at('d/g'));
    await watched.until('d/g', 'created');
    rmSync(at('d/g'));
    await watched.until('d/g', 'removed');
    rmSync(at('d/below'), { recursive: true });
    await watched.until('d/below', 'removed');
    expect(watched.story).not.toContain('created d/below/f');
  });

  it('tells of everything below when asked to', async () => {
    const { at, watch } = await openWatching();
    mkdirSync(at('d/a/b/c'), { recursive: true });
    const watched = await watch('d', true);
    writeFileSync(at('d/a/b/c/f'), '');
    await watched.until('d/a/b/c/f', 'created');
    rmSync(at('d/a/b'), { recursive: true });
    await watched.until('d/a/b', 'removed');
    mkdirSync(at('d/a/b'));
    await watched.until('d/a/b', 'created');
    writeFileSync(at('d/a/b/g'), '');
    await watched.until('d/a/b/g', 'created');
  });

  it('that is removed and made again is watched again, with what is in it', async () => {
    const { at, watch } = await openWatching();
    mkdirSync(at('d/sub'), { recursive: true });
    const watched = await watch('d', true);
    rmSync(at('d'), { recursive: true });
    await watched.until('d', 'removed');
    mkdirSync(at('made/sub'), { recursive: true });
    writeFileSync(at('made/sub/f'), '');
    renameSync(at('made'), at('d'));
    await watched.until('d/sub/f', 'created');
    expect(watched.kinds.get('d')).toBe('created');
    writeFileSync(at('d/sub/g'), '');
    await watched.until('d/sub/g', 'created');
  });

  it('reports what was put into a new directory before it could be watched', async () => {
    const { at, watch } = await openWatching();
    mkdirSync(at('d'));
    const watched = await watch('d', true);
    // All of this happens before the server gets to see the first event.
    for (let index = 0; index < 20; index++) {
      mkdirSync(at(`d/${index}/deep/deeper`), { recursive: true });
      writeFileSync(at(`d/${index}/f`), '');
      writeFileSync(at(`d/${index}/deep/deeper/f`), '');
    }
    for (let index = 0; index < 20; index++) {
      await watched.until(`d/${index}/f`, 'created');
      await watched.until(`d/${index}/deep/deeper/f`, 'created');
      writeFileSync(at(`d/${index}/deep/deeper/g`), '');
      await watched.until(`d/${index}/deep/deeper/g`, 'created');
    }
  });

  it('follows directories that move within it, and forgets those that leave', async () => {
    const { at, watch } = await openWatching();
    mkdirSync(at('d/from/sub'), { recursive: true });
    mkdirSync(at('outside'));
    const watched = await watch('d', true);
    renameSync(at('d/from'), at('d/to'));
    await watched.until('d/from', 'removed');
    await watched.until('d/to/sub', 'created');
    writeFileSync(at('d/to/sub/f'), '');
    await watched.until('d/to/sub/f', 'created');
    renameSync(at('d/to'), at('outside/to'));
    await watched.until('d/to', 'removed');
    writeFileSync(at('outside/to/sub/g'), '');
    writeFileSync(at('d/end'), '');
    await watched.until('d/end', 'created');
    expect(watched.story.filter((line) => line.endsWith('/g'))).toEqual([]);
  });

  it('does not follow links in it', async () => {
    const { at, watch } = await openWatching();
    mkdirSync(at('outside'));
    mkdirSync(at('d'));
    symlinkSync('../outside', at('d/link'));
    const watched = await watch('d', true);
    writeFileSync(at('outside/f'), '');
    writeFileSync(at('d/end'), '');
    await watched.until('d/end', 'created');
    expect(watched.story).toEqual(['created d/end']);
  });

  it('with names that are no UTF-8 reports them as they are', async () => {
    const { wire, directory, at, watch } = await openWatching();
    mkdirSync(at('d'));
    const watched = await watch('d');
    const name = Buffer.concat([Buffer.from(`${at('d')}/`), Buffer.from([0xff, 0x20, 0xfe])]);
    writeFileSync(name, '');
    await watched.until('d/%FF%20%FE', 'created');
    const path = `${nativeToPathUri(directory)}/d/%FF%20%FE`;
    expect((await wire.request('fs/open', { handleId: 'h', path })).result).toEqual({ handleId: 'h' });
  });

  it('reports a path once however often it changes, and applies in order', async () => {
    const { at, watch } = await openWatching();
    mkdirSync(at('d'));
    const watched = await watch('d', true);
    for (let round = 0; round < 100; round++) appendFileSync(at('d/log'), '.');
    mkdirSync(at('d/sub'));
    writeFileSync(at('d/sub/f'), '');
    rmSync(at('d/sub'), { recursive: true });
    mkdirSync(at('d/sub'));
    writeFileSync(at('d/sub/g'), '');
    await watched.until('d/sub/g', 'created');
    expect(watched.story.indexOf('created d/sub')).toBeLessThan(watched.story.indexOf('created d/sub/g'));
    expect(watched.story.filter((line) => line.endsWith('d/log'))).toEqual(['created d/log']);
  });
});

describe('a burst', () => {
  const queueLength = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));

  it('beyond the queue of the kernel is an overflow, and the watch is whole again', async () => {
    const { at, watch } = await openWatching();
    mkdirSync(at('d/old'), { recursive: true });
    writeFileSync(at('d/a'), '');
    writeFileSync(at('d/b'), '');
    const watched = await watch('d', true);
    // Two paths only, so that no bound of ours is near; in turns, so that the kernel cannot merge the events.
    for (let event = 0; event <= queueLength; event++)
      utimesSync(at(event % 2 === 0 ? 'd/a' : 'd/b'), 1, event);
    // The kernel has no room to tell of these.
    mkdirSync(at('d/unseen/deep'), { recursive: true });
    renameSync(at('d/old'), at('d/moved'));
    await watched.until('d', 'overflow');
    writeFileSync(at('d/unseen/deep/f'), '');
    await watched.until('d/unseen/deep/f', 'created');
    writeFileSync(at('d/moved/f'), '');
    await watched.until('d/moved/f', 'created');
  });

  it('beyond what may wait for the client is an overflow', async () => {
    const { at, watch } = await openWatching({ pendingFileChanges: 10 });
    mkdirSync(at('d'));
    const watched = await watch('d');
    for (let index = 0; index < 11; index++) mkdirSync(at(`d/${index}`));
    await watched.until('d', 'overflow');
    expect(watched.story).toEqual(['overflow d']);
    for (let index = 11; index < 21; index++) mkdirSync(at(`d/${index}`));
    for (let index = 11; index < 21; index++) await watched.until(`d/${index}`, 'created');
  });

  it('goes out in notifications of bounded size', async () => {
    const { at, watch } = await openWatching();
    mkdirSync(at('d'));
    const watched = await watch('d');
    const count = MAX_CHANGES_PER_NOTIFICATION + 1;
    for (let index = 0; index < count; index++) mkdirSync(at(`d/${index}`));
    await watched.until(`d/${count - 1}`, 'created');
    expect(watched.batches).toEqual([MAX_CHANGES_PER_NOTIFICATION, 1]);
  });

  it('reaches a client that stopped reading, as what it missed or as an overflow', async () => {
    const { server, wire, at, watch } = await openWatching({
      outboundHighWaterBytes: 20_000,
      outboundLowWaterBytes: 10_000,
      pendingFileChanges: 300,
    });
    mkdirSync(at('d'));
    const watched = await watch('d');
    const quick = await openSession(server);
    await quick.request('fs/watch', { watchId: 'quick', path: nativeToPathUri(at('d')) });
    wire.pause();
    const names = Array.from({ length: 2000 }, (_, index) => `d/${'x'.repeat(100)}${index}`);
    for (const [index, name] of names.entries()) {
      mkdirSync(at(name));
      // Whoever reads gets them piece by piece, while the other's connection fills.
      if (index % 200 === 199) await quick.next(({ method }) => method === 'fs/changed', 'a change');
    }
    wire.resume();
    writeFileSync(at('d/end'), '');
    await watched.until('d/end', 'created');
    const overflowAt = watched.story.lastIndexOf('overflow d');
    const toldOf = new Set(watched.story.slice(0, overflowAt === -1 ? undefined : overflowAt));
    expect(overflowAt !== -1 || names.every((name) => toldOf.has(`created ${name}`))).toBe(true);
  });
});

describe('limits', () => {
  it.each([63, 64])('%i watches may be set', async (count) => {
    const { at, tryWatch } = await openWatching();
    mkdirSync(at('d'));
    for (let index = 0; index < count; index++) expect(await tryWatch(`${index}`, 'd')).toEqual({});
  });

  it('the 65th is refused until one is gone', async () => {
    const { at, tryWatch, unwatch } = await openWatching();
    mkdirSync(at('d'));
    for (let index = 0; index < 64; index++) await tryWatch(`${index}`, 'd');
    expect(await tryWatch('more', 'd')).toMatchObject(
      refused('at most 64 watches may be set per connection'),
    );
    expect(await unwatch('0')).toEqual({});
    expect(await tryWatch('more', 'd')).toEqual({});
  });

  it('ids have at most 64 bytes and are unique', async () => {
    const { at, tryWatch } = await openWatching();
    mkdirSync(at('d'));
    for (const length of [0, MAX_WATCH_ID_BYTES - 1, MAX_WATCH_ID_BYTES])
      expect(await tryWatch('x'.repeat(length), 'd')).toEqual({});
    expect(await tryWatch('x'.repeat(MAX_WATCH_ID_BYTES + 1), 'd')).toMatchObject(
      refused('watch ID must not exceed 64 bytes'),
    );
    expect(await tryWatch('', 'd')).toMatchObject(refused('watch `` already exists'));
  });

  it.each([
    [39, {}],
    [40, {}],
    [41, { code: -32603, message: 'Symbolic link loop (os error 40)' }],
  ])('a path through %i links', async (links, answer) => {
    const { at, tryWatch } = await openWatching();
    for (let link = 0; link < links; link++) symlinkSync(`${link + 1}`, at(`${link}`));
    writeFileSync(at(`${links}`), '');
    expect(await tryWatch('w', '0')).toMatchObject(answer);
  });

  it('a tree has at most as many directories as may be watched', async () => {
    const { at, tryWatch } = await openWatching({ watchedDirectories: 3 });
    mkdirSync(at('d/one'), { recursive: true });
    expect(await tryWatch('two', 'd', true)).toEqual({});
    mkdirSync(at('d/two'));
    expect(await tryWatch('three', 'd', true)).toEqual({});
    mkdirSync(at('d/three'));
    expect(await tryWatch('four', 'd', true)).toMatchObject(refused('at most 3 directories may be watched'));
    expect(await tryWatch('four', 'd', false)).toEqual({});
  });

  it('a tree that grows beyond is never silent: it overflows', async () => {
    const { at, watch } = await openWatching({ watchedDirectories: 2 });
    mkdirSync(at('d/one'), { recursive: true });
    const watched = await watch('d', true);
    mkdirSync(at('d/two'));
    await watched.until('d', 'overflow');
    writeFileSync(at('d/f'), '');
    await watched.until('d/f', 'created');
  });
});

describe('refusals', () => {
  it('what does not exist', async () => {
    const { at, tryWatch } = await openWatching();
    writeFileSync(at('f'), '');
    symlinkSync('loop', at('loop'));
    const missing = { code: -32004, message: 'No such file or directory (os error 2)' };
    expect(await tryWatch('w', 'none')).toMatchObject(missing);
    expect(await tryWatch('w', 'none/f')).toMatchObject(missing);
    expect(await tryWatch('w', 'f/below')).toMatchObject({
      code: -32603,
      message: 'Not a directory (os error 20)',
    });
    expect(await tryWatch('w', 'loop')).toMatchObject({
      code: -32603,
      message: 'Symbolic link loop (os error 40)',
    });
    // The id is free again.
    expect(await tryWatch('w', 'f')).toEqual({});
  });

  it('a file system that does not tell of its changes', async () => {
    const { wire } = await openWatching();
    const { error } = await wire.request('fs/watch', { watchId: 'w', path: 'file:///proc/self' });
    expect(error).toMatchObject(refused('this file system does not tell of its changes'));
  });

  it('a path of another kind of host, a sandbox that restricts', async () => {
    const { wire, directory } = await openWatching();
    const foreign = await wire.request('fs/watch', { watchId: 'w', path: 'file://host/x' });
    expect(foreign.error?.code).toBe(-32600);
    const permissions = {
      type: 'managed',
      file_system: { type: 'restricted', entries: [] },
      network: 'enabled',
    };
    const sandbox = { permissions, windowsSandboxLevel: 'disabled' };
    const restricted = await wire.request('fs/watch', {
      watchId: 'w',
      path: nativeToPathUri(directory),
      sandbox,
    });
    expect(restricted.error?.code).toBe(-32602);
  });
});

describe('the end of a watch', () => {
  it('nothing is reported after the answer to unwatch, and an unknown watch is fine', async () => {
    const { at, watch, unwatch } = await openWatching();
    mkdirSync(at('d'));
    const first = await watch('d', true, 'first');
    const second = await watch('d', true, 'second');
    writeFileSync(at('d/f'), '');
    expect(await unwatch('first')).toEqual({});
    writeFileSync(at('d/g'), '');
    await second.until('d/g', 'created');
    expect(first.story).toEqual([]);
    expect(await unwatch('first')).toEqual({});
  });

  it('the last watch of a connection gives the queue of the kernel back', async () => {
    const { wire, at, watch, unwatch, server } = await openWatching();
    const before = countInotify();
    mkdirSync(at('d'));
    await watch('d', true, 'one');
    await watch('d', true, 'two');
    expect(countInotify()).toBe(before + 1);
    await unwatch('one');
    await unwatch('two');
    expect(countInotify()).toBe(before);
    await watch('d', true, 'three');
    await wire.close();
    await vi.waitFor(() => expect(countInotify()).toBe(before));
    expect((await openSession(server)).sessionId).toBeDefined();
  });
});

it('is unknown until the answer to initialize has told of it, as it is to the reference', async () => {
  const wire = openInProcessWire(openServer());
  const watch = () => wire.request('fs/watch', {});
  const unknown = { code: -32601, message: 'exec-server stub does not implement `fs/watch` yet' };
  expect((await watch()).error).toMatchObject(unknown);
  await wire.request('initialize', { clientName: 'test' });
  expect((await watch()).error?.code).toBe(-32602);
});

it('is advertised', async () => {
  const wire = await openSession(openServer());
  const { result } = await wire.request('environment/info');
  expect(result?.capabilities).toMatchObject({
    fsWatch: true,
    fsWatchMissing: true,
    fileWriteStreaming: true,
  });
});

it('two watches of one directory do not disturb each other', async () => {
  const { at, watch, unwatch } = await openWatching();
  mkdirSync(at('d'));
  writeFileSync(join(at('d'), 'f'), '');
  const file = await watch('d/f', false, 'file');
  const tree = await watch('d', true, 'tree');
  appendFileSync(at('d/f'), '.');
  await file.until('d/f', 'modified');
  await tree.until('d/f', 'modified');
  await unwatch('tree');
  appendFileSync(at('d/f'), '.');
  await file.until('d/f', 'modified');
});
