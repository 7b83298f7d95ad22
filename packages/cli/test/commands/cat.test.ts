import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { listen, makeDirectory, runCommand } from '../command-support.js';
import { FakeIo } from '../support.js';

const directory = makeDirectory();

function write(name: string, content: string | Uint8Array): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

it('prints files one after the other, and goes on behind one that is missing', async () => {
  const first = write('first', 'one\n');
  const second = write('second', 'two\n');
  const { code, stdout, stderr } = await runCommand(['cat', first, join(directory, 'missing'), second]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: 'one\ntwo\n' });
  expect(stderr).toMatch(/^Error: ENOENT: .*\/missing'\n$/);
});

it('prints many files without losing track of who listens', async () => {
  const paths = Array.from({ length: 20 }, (_, index) => write(`file-${index}`, `${index} `));
  const io = new FakeIo();
  expect((await runCommand(['cat', ...paths], io)).stdout).toBe(
    paths.map((_, index) => `${index} `).join(''),
  );
  expect(io.stdout.listenerCount('drain')).toBeLessThan(2);
});

it('keeps every byte of a large file, and reads no faster than is taken', async () => {
  const content = randomBytes(3_000_000);
  const path = write('large', content);
  const chunks: Buffer[] = [];
  let pending = 0;
  let mostPending = 0;
  const stdout = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      mostPending = Math.max(mostPending, ++pending);
      setImmediate(() => {
        pending--;
        done();
      });
    },
  });
  const io = Object.assign(new FakeIo(), { stdout });
  expect((await runCommand(['cat', '--connect', await listen(), path], io)).code).toBe(0);
  await new Promise((resolve) => stdout.end(resolve));
  expect(Buffer.concat(chunks).equals(content)).toBe(true);
  expect(mostPending).toBe(1);
});

it('ends quietly when nobody reads any more', async () => {
  const path = write('unread', randomBytes(3_000_000));
  let taken = 0;
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      taken += chunk.length;
      done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    },
  });
  stdout.on('error', () => {});
  const io = Object.assign(new FakeIo(), { stdout });
  const { code, stderr } = await runCommand(['cat', path, path], io);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(taken).toBeLessThan(3_000_000);
});

it('--json holds text, or base64 of what is none', async () => {
  const text = write('text', 'ü\n');
  const binary = write('binary', Buffer.from([0xff, 0x00]));
  const { stdout } = await runCommand(['cat', '--json', text, binary]);
  expect(JSON.parse(stdout)).toEqual([
    { path: text, text: 'ü\n' },
    { path: binary, dataBase64: '/wA=' },
  ]);
});

it('wants a path', async () => {
  expect(await runCommand(['cat'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("missing required argument 'path'"),
  });
});
