import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { MAX_FILE_BLOCK_BYTES, MAX_OPEN_FILE_HANDLES } from '@exec-server/protocol';
import { describe, expect, it } from 'vitest';
import { MAX_BLOCKS_AHEAD } from '../../src/fs/block-reader.js';
import { cutAt } from '../support/cutting-dialer.js';
import { countCalls, failureOf, openFiles } from '../support/files.js';

const MIB = 1024 * 1024;

async function collect(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const BYTES = randomBytes(20 * MIB);

/** Bytes that tell where they are from. */
function pattern(length: number): Buffer {
  return BYTES.subarray(0, length);
}

describe('createReadStream', () => {
  it.each([0, 1, MAX_FILE_BLOCK_BYTES - 1, MAX_FILE_BLOCK_BYTES, MAX_FILE_BLOCK_BYTES + 1, 6 * MIB + 7])(
    'reads a file of %i bytes',
    async (length) => {
      const { fs, path } = await openFiles();
      writeFileSync(path('f'), pattern(length));
      expect((await collect(fs.createReadStream(path('f')))).equals(pattern(length))).toBe(true);
    },
  );

  it.each([
    [{ start: 0, end: 0 }, 0, 1],
    [{ start: 3 }, 3, 100],
    [{ end: 9 }, 0, 10],
    [{ start: 10, end: 49, highWaterMark: 7 }, 10, 50],
    [{ start: 90, end: 200 }, 90, 100],
    [{ start: 100 }, 100, 100],
    [{ start: 1000 }, 100, 100],
  ])('%j are bytes %i to %i', async (options, from, to) => {
    const { fs, path } = await openFiles();
    writeFileSync(path('f'), pattern(100));
    expect(await collect(fs.createReadStream(path('f'), options))).toEqual(pattern(100).subarray(from, to));
  });

  it.each([
    { start: -1 },
    { start: 0.5 },
    { start: 5, end: 4 },
    { highWaterMark: 0 },
    { highWaterMark: MAX_FILE_BLOCK_BYTES + 1 },
    { encoding: 'utf8' },
  ])('refuses %j', async (options) => {
    const { fs, path } = await openFiles();
    expect(() => fs.createReadStream(path('f'), options)).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it.each([1, MAX_FILE_BLOCK_BYTES])('takes a highWaterMark of %i', async (highWaterMark) => {
    const { fs, path } = await openFiles();
    writeFileSync(path('f'), 'abc');
    expect(String(await collect(fs.createReadStream(path('f'), { highWaterMark })))).toBe('abc');
  });

  it('says why it cannot read', async () => {
    const { fs, path } = await openFiles();
    mkdirSync(path('d'));
    expect(await failureOf(collect(fs.createReadStream(path('missing'))))).toMatchObject({
      errno: 'ENOENT',
      operation: 'createReadStream',
    });
    expect(await failureOf(collect(fs.createReadStream(path('d'))))).toMatchObject({ code: 'rejected' });
  });

  it('asks for nothing before it is read, and for few blocks ahead of its reader', async () => {
    const { fs, path, client } = await openFiles();
    writeFileSync(path('f'), pattern(20 * MIB));
    const reads = countCalls(client, 'fs/readBlock');
    const reader = fs.createReadStream(path('f')).getReader();
    expect(reads.total).toBe(0);
    for (let i = 0; i < 3; i++) await reader.read();
    // A reader that stops here has at most the window waiting for it.
    expect(reads.total).toBeLessThanOrEqual(3 + MAX_BLOCKS_AHEAD);
    await reader.cancel();
    expect(reads.most).toBeLessThanOrEqual(MAX_BLOCKS_AHEAD);
    expect(reads.most).toBeGreaterThan(1);
  });

  it('gives its handle back at the end, by cancel and by failure', async () => {
    const { fs, path } = await openFiles();
    writeFileSync(path('f'), pattern(3 * MIB));
    for (let i = 0; i <= MAX_OPEN_FILE_HANDLES; i++) {
      const reader = fs.createReadStream(path('f'), { end: 10 }).getReader();
      await reader.read();
      if (i % 2 === 0) await reader.cancel();
      else expect((await reader.read()).done).toBe(true);
    }
  });

  it('ends with the reason of its signal, and gives the handle back', async () => {
    const { fs, path, client } = await openFiles();
    writeFileSync(path('f'), pattern(3 * MIB));
    const closes = countCalls(client, 'fs/close');
    const abort = new AbortController();
    const reader = fs.createReadStream(path('f'), { signal: abort.signal }).getReader();
    await reader.read();
    abort.abort(new Error('enough'));
    await expect(reader.read()).rejects.toThrow('enough');
    expect(closes.total).toBe(1);
    const late = fs.createReadStream(path('f'), { signal: abort.signal });
    await expect(late.getReader().read()).rejects.toThrow('enough');
  });
});

describe('a read stream whose connection is lost', () => {
  const LENGTH = 6 * MIB + 7;

  it.each([
    { method: 'fs/open', direction: 'sent' },
    { method: 'fs/open', direction: 'received' },
    { method: 'fs/readBlock', direction: 'sent' },
    { method: 'fs/readBlock', direction: 'received' },
  ] as const)('at $method, $direction, goes on where it was', async ({ method, direction }) => {
    const { fs, path, dialer } = await openFiles();
    writeFileSync(path('f'), pattern(LENGTH));
    await fs.stat(path('f'));
    dialer.cutWhen = cutAt(method, direction, 3);
    expect((await collect(fs.createReadStream(path('f')))).equals(pattern(LENGTH))).toBe(true);
    expect(dialer.dials).toBe(4);
  });

  it('goes on behind its own start and up to its own end', async () => {
    const { fs, path, dialer } = await openFiles();
    writeFileSync(path('f'), pattern(LENGTH));
    await fs.stat(path('f'));
    dialer.cutWhen = cutAt('fs/readBlock', 'received', 2);
    const options = { start: 1000, end: 3 * MIB, highWaterMark: 100_000 };
    const read = await collect(fs.createReadStream(path('f'), options));
    expect(read.equals(pattern(3 * MIB + 1).subarray(1000))).toBe(true);
  });

  it.each<[string, (path: string) => void]>([
    ['another file has its name', (path) => renameSync(`${path}.new`, path)],
    ['it was written to', (path) => writeAt(path, 5, 'x')],
    ['it is shorter', (path) => truncateSync(path, LENGTH - 1)],
    ['it is longer', (path) => appendFileSync(path, 'x')],
    ['it is gone', (path) => rmSync(path)],
  ])('fails when %s meanwhile', async (_, change) => {
    const { fs, path, dialer } = await openFiles();
    writeFileSync(path('f'), pattern(LENGTH));
    // The same content of the same age, in another file.
    writeFileSync(path('f.new'), pattern(LENGTH));
    const { atime, mtime } = statSync(path('f'));
    utimesSync(path('f.new'), atime, mtime);
    const reader = fs.createReadStream(path('f')).getReader();
    await reader.read();
    dialer.shut();
    dialer.cut();
    change(path('f'));
    dialer.open();
    const failure = await failureOf(drain(reader));
    expect(failure).toMatchObject({ code: 'connection_lost', retryable: false });
    expect(String(failure)).toContain(
      `the file has changed while the connection was lost, so that it cannot be read on at byte`,
    );
    expect(String(failure)).toContain(`createReadStream '${path('f')}'`);
  });

  it('fails on a server that cannot tell one file from another', async () => {
    const { fs, path, dialer } = await openFiles({ disabledCapabilities: ['fsResumableStreams'] });
    writeFileSync(path('f'), pattern(20 * MIB));
    const reader = fs.createReadStream(path('f')).getReader();
    await reader.read();
    dialer.cut();
    expect(await failureOf(drain(reader))).toMatchObject({ code: 'connection_lost', retryable: true });
    expect((await fs.readFile(path('f'))).length).toBe(20 * MIB);
  });

  it('fails where there is no other connection', async () => {
    const { fs, path, dialer } = await openFiles({}, { reconnect: false });
    writeFileSync(path('f'), pattern(20 * MIB));
    const reader = fs.createReadStream(path('f')).getReader();
    await reader.read();
    dialer.cut();
    expect(await failureOf(drain(reader))).toMatchObject({ code: 'connection_lost' });
  });

  it('is cancelled as any other', async () => {
    const { fs, path, dialer } = await openFiles();
    writeFileSync(path('f'), pattern(20 * MIB));
    const reader = fs.createReadStream(path('f')).getReader();
    await reader.read();
    dialer.shut();
    dialer.cut();
    const reading = reader.read();
    await reader.cancel();
    dialer.open();
    expect((await reading).done).toBe(true);
  });
});

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}

function writeAt(path: string, position: number, text: string): void {
  const fd = openSync(path, 'r+');
  writeSync(fd, text, position);
  closeSync(fd);
}

describe('readFile', () => {
  it.each([0, 5, 8 * MIB, 8 * MIB + 1, 12 * MIB])('reads %i bytes', async (length) => {
    const { fs, path } = await openFiles();
    writeFileSync(path('f'), pattern(length));
    expect(Buffer.compare(await fs.readFile(path('f')), pattern(length))).toBe(0);
  });

  it('decodes text, with a byte order mark and with what is no UTF-8', async () => {
    const { fs, path } = await openFiles();
    writeFileSync(path('f'), Buffer.concat([Buffer.from('\ufeffgrün'), Buffer.of(0xff)]));
    expect(await fs.readFile(path('f'), 'utf8')).toBe('\ufeffgrün\ufffd');
    expect(await fs.readFile(path('f'), { encoding: 'utf-8' })).toBe('\ufeffgrün\ufffd');
    const latin = { encoding: 'latin1' } as unknown as { encoding: 'utf8' };
    expect(await failureOf(fs.readFile(path('f'), latin))).toMatchObject({ code: 'usage' });
  });

  it('reads files that the kernel makes up as they are read', async () => {
    const { fs } = await openFiles();
    expect(await fs.readFile('/proc/self/status', 'utf8')).toContain('Pid:');
  });

  it('reads a file that is larger than any message', async () => {
    const { fs, path } = await openFiles();
    const fd = openSync(path('f'), 'w');
    ftruncateSync(fd, 70 * MIB);
    writeSync(fd, 'end', 70 * MIB - 3);
    closeSync(fd);
    const bytes = await fs.readFile(path('f'));
    expect(bytes.length).toBe(70 * MIB);
    expect(Buffer.from(bytes.subarray(-3)).toString()).toBe('end');
  });

  it('hundreds at once do not run out of handles', async () => {
    const { fs, path } = await openFiles();
    writeFileSync(path('f'), 'x');
    const all = await Promise.all(Array.from({ length: 300 }, () => fs.readFile(path('f'), 'utf8')));
    expect(new Set(all)).toEqual(new Set(['x']));
  });
});
