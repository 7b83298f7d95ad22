import { constants, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { RetainedChunk } from '../../src/output/retained-chunk.js';
import { SpillFile } from '../../src/output/spill-file.js';

let path: string;
beforeEach(() => {
  const directory = mkdtempSync(join(tmpdir(), 'spill-file-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  path = join(directory, 'x.log');
});

async function openSpill(limitBytes: number): Promise<SpillFile> {
  return new SpillFile(await open(path, 'wx'), { path, limitBytes });
}

let seq = 0;
const chunk = (data: string | Buffer) => new RetainedChunk(++seq, 'stdout', Buffer.from(data as string));

it('writes what it gets in order', async () => {
  const spill = await openSpill(1_000_000);
  const pieces = Array.from({ length: 5_000 }, (_, index) => `${index}\n`);
  for (const piece of pieces) spill.output(chunk(piece));
  expect(spill.state).toMatchObject({ complete: false });
  spill.exited();
  spill.closed();
  await spill.finished;
  const text = pieces.join('');
  expect(readFileSync(path, 'utf8')).toBe(text);
  expect(spill.state).toEqual({ path, bytes: text.length, truncated: false, complete: true });
});

describe('the limit', () => {
  it.each([
    ['one less', 'abcd', false],
    ['just as much', 'abcde', false],
    ['one more', 'abcdef', true],
  ])('%s', async (_name, text, truncated) => {
    const spill = await openSpill(5);
    for (const piece of text) spill.output(chunk(piece));
    spill.closed();
    await spill.finished;
    expect(readFileSync(path, 'utf8')).toBe(text.slice(0, 5));
    expect(spill.state).toEqual({ path, bytes: Math.min(5, text.length), truncated, complete: true });
  });

  it('cuts a chunk that crosses it, and closes the file at once', async () => {
    const spill = await openSpill(3);
    spill.output(chunk('abcdef'));
    await spill.finished;
    spill.output(chunk('more'));
    spill.closed();
    expect(readFileSync(path, 'utf8')).toBe('abc');
    expect(spill.state).toEqual({ path, bytes: 3, truncated: true, complete: true });
  });
});

it('is behind from 1 MiB on until the disk has taken it', async () => {
  const spill = await openSpill(10_000_000);
  const mebibyte = 1024 * 1024;
  spill.output(chunk(Buffer.alloc(mebibyte - 1)));
  expect(spill.writable).toBe(true);
  spill.output(chunk('x'));
  expect(spill.writable).toBe(false);
  await spill.whenWritable();
  expect(spill.writable).toBe(true);
  spill.closed();
  await spill.finished;
  expect(spill.state.bytes).toBe(mebibyte);
});

it('ends with the error when the disk is full, and holds nobody back after that', async () => {
  const full = await open('/dev/full', constants.O_WRONLY);
  const spill = new SpillFile(full, { path, limitBytes: 10_000_000 });
  spill.output(chunk(Buffer.alloc(2 * 1024 * 1024)));
  expect(spill.writable).toBe(false);
  await spill.whenWritable();
  await spill.finished;
  spill.output(chunk('more'));
  spill.closed();
  expect(spill.writable).toBe(true);
  expect(spill.state).toEqual({
    path,
    bytes: 0,
    truncated: true,
    complete: true,
    error: 'No space left on device (os error 28)',
  });
});
