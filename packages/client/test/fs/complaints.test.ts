import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createNodeFileSystem } from '../../src/node/node-file-system.js';
import { openFiles } from '../support/files.js';

const MIB = 1024 * 1024;
const FILE_BYTES = 64 * MIB;

/** The most bytes that a path through here may hold: what is asked for ahead, and what is being handed over. */
const MOST_BYTES_HELD = 6 * MIB;

/** A large file that was never in memory as a whole, and its digest. */
async function makeLargeFile(path: string): Promise<string> {
  const digest = createHash('sha256');
  const file = createWriteStream(path);
  for (let i = 0; i < FILE_BYTES / MIB; i++) {
    const block = Buffer.alloc(MIB, `block ${i} `);
    digest.update(block);
    if (!file.write(block)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
  return digest.digest('hex');
}

async function digestOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of chunks) digest.update(chunk);
  return digest.digest('hex');
}

describe('complaint 40: large files blow memory, and there are no directories', () => {
  it('a file of 64 MiB is read with a few MiB under way', async () => {
    const { fs, client, path } = await openFiles();
    const expected = await makeLargeFile(path('large'));
    let asked = 0;
    let taken = 0;
    let most = 0;
    const call = client.call.bind(client);
    client.call = (method, params, options) => {
      if (method === 'fs/readBlock') {
        asked += (params as { len: number }).len;
        most = Math.max(most, asked - taken);
      }
      return call(method, params, options);
    };
    const digest = createHash('sha256');
    for await (const chunk of fs.createReadStream(path('large'))) {
      taken += chunk.length;
      digest.update(chunk);
    }
    expect(digest.digest('hex')).toBe(expected);
    expect(taken).toBe(FILE_BYTES);
    expect(most).toBeLessThanOrEqual(MOST_BYTES_HELD);
  });

  it('a file of 64 MiB is written as slowly as the server takes it', async () => {
    const { fs, client, path } = await openFiles();
    const expected = await makeLargeFile(path('from'));
    let produced = 0;
    let written = 0;
    let most = 0;
    const call = client.call.bind(client);
    client.call = async (method, params, options) => {
      const result = await call(method, params, options);
      if (method === 'fs/writeBlock') written += ((params as { chunk: string }).chunk.length / 4) * 3;
      return result;
    };
    async function* source() {
      for await (const chunk of createReadStream(path('from'), { highWaterMark: MIB })) {
        produced += (chunk as Buffer).length;
        most = Math.max(most, produced - written);
        yield chunk as Buffer;
      }
    }
    await fs.writeFile(path('to'), source());
    expect(await digestOf(createReadStream(path('to')))).toBe(expected);
    expect(most).toBeLessThanOrEqual(MOST_BYTES_HELD);
  });

  it('a directory goes there and back', async () => {
    const { client, path } = await openFiles();
    const fs = createNodeFileSystem(client);
    mkdirSync(path('project/src/deep'), { recursive: true });
    for (let i = 0; i < 50; i++) writeFileSync(path(`project/src/deep/${i}`), `content ${i}`);
    await fs.copyIn(path('project'), path('there'));
    await fs.copyOut(path('there'), path('back'));
    const list = (name: string) => new Set(readdirSync(path(name), { recursive: true, encoding: 'utf8' }));
    expect(list('back')).toEqual(list('project'));
  });
});

describe('complaint 41: file watching is asked for everywhere, and races', () => {
  it('what changes right after the watch is armed is never missed', async () => {
    const { fs, path } = await openFiles();
    for (let i = 0; i < 20; i++) {
      mkdirSync(path(`d${i}/sub`), { recursive: true });
      const watch = fs.watch(path(`d${i}`), { recursive: true });
      await watch.armed;
      writeFileSync(path(`d${i}/sub/f`), 'x');
      const seen: string[] = [];
      while (!seen.includes(path(`d${i}/sub/f`))) {
        const { value } = await watch.next();
        if (value !== undefined) seen.push(value.path);
      }
      await watch.return();
    }
  });

  it('what is made in a directory that was just made is never missed', async () => {
    const { fs, path } = await openFiles();
    const watch = fs.watch(path(), { recursive: true });
    await watch.armed;
    for (let i = 0; i < 20; i++) {
      mkdirSync(path(`new${i}/deeper`), { recursive: true });
      writeFileSync(path(`new${i}/deeper/f`), 'x');
    }
    // `created` of a directory says that nothing known below it holds: the files are told, or covered by that.
    const covered = new Set<number>();
    while (covered.size < 20) {
      const { value } = await watch.next();
      const number = /\/new(\d+)/.exec(value?.path ?? '')?.[1];
      if (number !== undefined) covered.add(Number(number));
    }
    await watch.return();
  });

  it('changes that may have been missed are told as an overflow, and the watch goes on', async () => {
    const { fs, path, dialer } = await openFiles();
    const watch = fs.watch(path());
    await watch.armed;
    dialer.cut();
    const { value } = await watch.next();
    expect(value).toEqual({ type: 'overflow', path: path() });
    writeFileSync(path('after'), 'x');
    expect((await watch.next()).value).toEqual({
      type: 'created',
      path: path('after'),
    });
    rmSync(path('after'));
    await watch.return();
  });
});
