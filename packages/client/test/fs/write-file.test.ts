import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { MAX_FILE_BLOCK_BYTES } from '@exec-server/protocol';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../server/test/support/fake-clock.js';
import { MAX_BLOCKS_IN_FLIGHT } from '../../src/fs/block-writer.js';
import type { FileData } from '../../src/fs/file-data.js';
import { MAX_WHOLE_WRITE_BYTES } from '../../src/fs/write-file.js';
import { cutAt } from '../support/cutting-dialer.js';
import { countCalls, failureOf, openFiles } from '../support/files.js';

const MIB = 1024 * 1024;

const BYTES = randomBytes(8 * MIB);

function pattern(length: number): Uint8Array {
  return BYTES.subarray(0, length);
}

/** What `ReadableStream.from` does where it is there. */
function streamOf<T>(chunks: Iterable<T> | AsyncIterable<T>): ReadableStream<T> {
  const iterator = (async function* () {
    yield* chunks;
  })();
  return new ReadableStream<T>({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe('writeFile', () => {
  const kinds: [string, FileData][] = [
    ['text', 'grün'],
    ['bytes', new TextEncoder().encode('grün')],
    ['a part of other memory', new TextEncoder().encode('xgrün').subarray(1)],
    ['an ArrayBuffer', new TextEncoder().encode('grün').buffer],
    ['a view', new DataView(new TextEncoder().encode('grün').buffer)],
    ['an iterable', ['gr', 'ün']],
    ['an async iterable', pieces(new TextEncoder().encode('grün'), 1)],
    ['a stream', new Blob(['grün']).stream()],
    ['a stream of text', streamOf(['gr', 'ün'])],
  ];
  it.each(kinds)('takes %s', async (_, data) => {
    const { fs, path } = await openFiles();
    writeFileSync(path('f'), 'something longer that was there');
    await fs.writeFile(path('f'), data);
    expect(readFileSync(path('f'), 'utf8')).toBe('grün');
  });

  it.each([MAX_WHOLE_WRITE_BYTES - 1, MAX_WHOLE_WRITE_BYTES, MAX_WHOLE_WRITE_BYTES + 1, 7 * MIB + 3])(
    'writes %i bytes',
    async (length) => {
      const { fs, path } = await openFiles();
      await fs.writeFile(path('f'), pattern(length));
      expect(Buffer.compare(readFileSync(path('f')), pattern(length))).toBe(0);
    },
  );

  it.each([[{ flag: 'a' }], [{ flag: 'wx' }], [{ encoding: 'latin1' }], [{ flush: true }], [{ mode: 1.5 }]])(
    'refuses %j before anything is written',
    async (options) => {
      const { fs, path } = await openFiles();
      expect(await failureOf(fs.writeFile(path('f'), '', options as object))).toMatchObject({
        code: 'usage',
      });
      expect(existsSync(path('f'))).toBe(false);
    },
  );

  it.each([false, true])('sets the mode, atomic: %s', async (atomic) => {
    const { fs, path } = await openFiles();
    writeFileSync(path('old'), '');
    for (const name of ['new', 'old']) {
      await fs.writeFile(path(name), 'secret', { mode: 0o600, atomic });
      expect(statSync(path(name)).mode & 0o7777).toBe(0o600);
      expect(readFileSync(path(name), 'utf8')).toBe('secret');
    }
  });

  it('the mode is there before the content', async () => {
    const { fs, path } = await openFiles();
    async function* secret() {
      expect(statSync(path('f')).mode & 0o7777).toBe(0o600);
      yield 'secret';
    }
    await fs.writeFile(path('f'), secret(), { mode: 0o600 });
    expect(readFileSync(path('f'), 'utf8')).toBe('secret');
  });

  it.each([
    ['in one request', 'new'],
    ['in blocks', pattern(2 * MIB)],
  ])('atomic keeps mode and link of what it replaces, %s', async (_, data) => {
    const { fs, path } = await openFiles();
    mkdirSync(path('d'));
    writeFileSync(path('d/f'), 'old');
    chmodSync(path('d/f'), 0o751);
    symlinkSync('d/f', path('link'));
    const { ino } = statSync(path('d/f'));
    await fs.writeFile(path('link'), data, { atomic: true });
    expect(lstatSync(path('link')).isSymbolicLink()).toBe(true);
    expect(statSync(path('d/f')).mode & 0o7777).toBe(0o751);
    expect(statSync(path('d/f')).ino).not.toBe(ino);
    expect(statSync(path('d/f')).size).toBe(data.length);
    expect(readdirSync(path('d'))).toEqual(['f']);
  });

  it('a source that fails leaves what was there, with atomic, and nothing beside it', async () => {
    const { fs, path } = await openFiles();
    writeFileSync(path('f'), 'old');
    async function* breaking() {
      yield pattern(2 * MIB);
      throw new Error('broken source');
    }
    await expect(fs.writeFile(path('f'), breaking(), { atomic: true })).rejects.toThrow('broken source');
    await expect(fs.writeFile(path('new'), breaking(), { atomic: true })).rejects.toThrow('broken source');
    expect(readdirSync(path())).toEqual(['f']);
    expect(readFileSync(path('f'), 'utf8')).toBe('old');
  });

  it('an abort in the middle ends the source, and leaves what was there', async () => {
    const { fs, path } = await openFiles();
    const abort = new AbortController();
    let ended = false;
    async function* endless() {
      try {
        for (let i = 0; ; i++) {
          if (i === 10) abort.abort(new Error('enough'));
          yield pattern(1000);
        }
      } finally {
        ended = true;
      }
    }
    const writing = fs.writeFile(path('f'), endless(), { atomic: true, signal: abort.signal });
    await expect(writing).rejects.toThrow('enough');
    expect(ended).toBe(true);
    expect(readdirSync(path())).toEqual([]);
  });

  it('a link that leads nowhere is not replaced by a file', async () => {
    const { fs, path } = await openFiles();
    symlinkSync('nowhere', path('link'));
    const failure = await failureOf(fs.writeFile(path('link'), pattern(2 * MIB), { atomic: true }));
    expect(failure).toMatchObject({ errno: 'ENOENT' });
    expect(readdirSync(path())).toEqual(['link']);
  });

  it('tells which capability is missing', async () => {
    const large = pattern(2 * MIB);
    const { fs, path } = await openFiles({ disabledCapabilities: ['fileWriteStreaming'] });
    await fs.writeFile(path('f'), 'small');
    const missing = { code: 'capability_missing', capability: 'fileWriteStreaming' };
    expect(await failureOf(fs.writeFile(path('f'), large))).toMatchObject(missing);
    expect(readFileSync(path('f'), 'utf8')).toBe('small');
    const modeless = await openFiles({ disabledCapabilities: ['fsSetMode'] });
    writeFileSync(modeless.path('f'), 'kept');
    expect(await failureOf(modeless.fs.writeFile(modeless.path('f'), '', { mode: 0o600 }))).toMatchObject({
      capability: 'fsSetMode',
    });
    expect(readFileSync(modeless.path('f'), 'utf8')).toBe('kept');
    const other = await openFiles({ disabledCapabilities: ['fsAtomicWrite', 'fsRename'] });
    expect(await failureOf(other.fs.writeFile(other.path('f'), 'x', { atomic: true }))).toMatchObject({
      capability: 'fsRename',
    });
  });

  it('atomic works without its capability where files can be renamed', async () => {
    const { fs, path } = await openFiles({ disabledCapabilities: ['fsAtomicWrite'] });
    await fs.writeFile(path('f'), 'x', { atomic: true });
    expect(readdirSync(path())).toEqual(['f']);
  });
});

describe('createWriteStream', () => {
  it.each([1, 1000, MAX_FILE_BLOCK_BYTES, 3 * MIB])('takes pieces of %i bytes', async (size) => {
    const { fs, path, client } = await openFiles();
    const bytes = pattern(size === 1 ? 10_000 : 5 * MIB);
    const writes = countCalls(client, 'fs/writeBlock');
    await streamOf(pieces(bytes, size)).pipeTo(fs.createWriteStream(path('f')));
    expect(Buffer.compare(readFileSync(path('f')), bytes)).toBe(0);
    expect(writes.most).toBeLessThanOrEqual(MAX_BLOCKS_IN_FLIGHT);
    expect(writes.total).toBeLessThanOrEqual(bytes.length / Math.min(size, MAX_FILE_BLOCK_BYTES) + 5);
  });

  it('small pieces gather to few requests', async () => {
    const { fs, path, client } = await openFiles();
    const writes = countCalls(client, 'fs/writeBlock');
    const writer = fs.createWriteStream(path('f')).getWriter();
    await Promise.all(Array.from({ length: 20_000 }, () => writer.write('x')));
    await writer.close();
    expect(readFileSync(path('f'), 'utf8')).toBe('x'.repeat(20_000));
    expect(writes.total).toBeLessThan(10_000);
  });

  it('a chunk may be changed once its write is over', async () => {
    const { fs, path } = await openFiles();
    const writer = fs.createWriteStream(path('f')).getWriter();
    const chunk = new Uint8Array(1000);
    for (let i = 0; i < 100; i++) {
      chunk.fill(i);
      await writer.write(chunk);
    }
    await writer.close();
    const written = readFileSync(path('f'));
    expect(Array.from({ length: 100 }, (_, i) => written[i * 1000 + 999])).toEqual(
      Array.from({ length: 100 }, (_, i) => i),
    );
  });

  it('says why it cannot write', async () => {
    const { fs, path } = await openFiles();
    const writer = fs.createWriteStream(path('no/such')).getWriter();
    writer.closed.catch(() => {});
    expect(await failureOf(writer.write('x'))).toMatchObject({
      errno: 'ENOENT',
      operation: 'createWriteStream',
    });
    const full = fs.createWriteStream('/dev/full').getWriter();
    full.closed.catch(() => {});
    expect(await failureOf(full.write('x'))).toMatchObject({ code: 'rejected' });
  });

  it('abort leaves nothing of an atomic file', async () => {
    const { fs, path } = await openFiles();
    const writer = fs.createWriteStream(path('f'), { atomic: true }).getWriter();
    await writer.write(pattern(2 * MIB));
    expect(readdirSync(path())).toHaveLength(1);
    await writer.abort();
    expect(readdirSync(path())).toEqual([]);
  });

  it('a signal ends it with its reason', async () => {
    const { fs, path } = await openFiles();
    const abort = new AbortController();
    const writer = fs.createWriteStream(path('f'), { atomic: true, signal: abort.signal }).getWriter();
    await writer.write('x');
    abort.abort(new Error('enough'));
    await expect(writer.closed).rejects.toThrow('enough');
    await expect(writer.write('y')).rejects.toThrow('enough');
  });

  it('fails when its connection is lost on a server that keeps no files, and removes what it wrote beside', async () => {
    const { fs, path, dialer } = await openFiles({ disabledCapabilities: ['fsResumableStreams'] });
    const writer = fs.createWriteStream(path('f'), { atomic: true }).getWriter();
    writer.closed.catch(() => {});
    await writer.write(pattern(MIB));
    dialer.cut();
    const push = async () => {
      for (;;) await writer.write(pattern(MIB));
    };
    expect(await failureOf(push())).toMatchObject({ code: 'connection_lost' });
    expect(readdirSync(path())).toEqual([]);
  });
});

describe('a write stream whose connection is lost', () => {
  const CUTS = ['fs/open', 'fs/writeBlock', 'fs/close', 'fs/setMode', 'fs/rename'].flatMap((method) =>
    (['sent', 'received'] as const).map((direction) => ({ method, direction })),
  );

  describe.each([{ atomic: false }, { atomic: true }])('atomic: $atomic', ({ atomic }) => {
    it.each(CUTS.filter(({ method }) => atomic || method !== 'fs/rename'))(
      'at $method, $direction, goes on with what was not confirmed',
      async ({ method, direction }) => {
        const { fs, path, dialer } = await openFiles();
        writeFileSync(path('f'), 'old');
        await fs.stat(path('f'));
        dialer.cutWhen = cutAt(method, direction, 3);
        const writer = fs.createWriteStream(path('f'), { atomic, mode: 0o640 }).getWriter();
        for (let at = 0; at < BYTES.length; at += 300_000)
          await writer.write(BYTES.subarray(at, at + 300_000));
        await writer.close();
        expect(readFileSync(path('f')).equals(BYTES)).toBe(true);
        expect(statSync(path('f')).mode & 0o777).toBe(0o640);
        expect(readdirSync(path())).toEqual(['f']);
        expect(dialer.dials).toBeGreaterThan(1);
      },
    );
  });

  it('keeps to the file that it opened, wherever that is now', async () => {
    const { fs, path, dialer } = await openFiles();
    const writer = fs.createWriteStream(path('f')).getWriter();
    await writer.write(pattern(MIB));
    dialer.shut();
    dialer.cut();
    renameSync(path('f'), path('moved'));
    writeFileSync(path('f'), 'somebody else');
    dialer.open();
    await writer.write(BYTES.subarray(MIB, 2 * MIB));
    await writer.close();
    expect(readFileSync(path('f'), 'utf8')).toBe('somebody else');
    expect(readFileSync(path('moved')).equals(pattern(2 * MIB))).toBe(true);
  });

  it('fails with its session, and what it wrote beside stays for nobody to mistake', async () => {
    const clock = new FakeClock();
    const { fs, client, path, dialer } = await openFiles({ clock });
    const writer = fs.createWriteStream(path('f'), { atomic: true }).getWriter();
    writer.closed.catch(() => {});
    await writer.write(pattern(MIB));
    const lost = new Promise((resolve) => client.onLoss(resolve));
    dialer.shut();
    dialer.cut();
    await lost;
    clock.advance(30_000);
    dialer.open();
    const push = async () => {
      for (;;) await writer.write(pattern(MIB));
    };
    expect(await failureOf(push())).toMatchObject({ code: 'session_expired' });
    expect(existsSync(path('f'))).toBe(false);
  });

  it('leaves nothing open when it is over', async () => {
    const { fs, path, dialer } = await openFiles();
    for (let count = 0; count < 3; count++) {
      const writer = fs.createWriteStream(path('f')).getWriter();
      await writer.write(pattern(MIB));
      dialer.cut();
      if (count === 0) await writer.close();
      else await writer.abort();
    }
    const links = readdirSync('/proc/self/fd').map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        return '';
      }
    });
    expect(links.filter((link) => link.startsWith(path()))).toEqual([]);
  });
});
