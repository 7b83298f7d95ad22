import { closeSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { FileHandles } from '../../src/fs/handles.js';
import { OpenFile } from '../../src/fs/handles-file.js';
import { makeTempDirectory } from '../support/temp-directory.js';

/** Descriptors of this process that are open on `path`. */
function findDescriptors(path: string): number[] {
  const found = readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  });
  return found.map(Number);
}

const countDescriptors = (path: string) => findDescriptors(path).length;

const openFor = (path: string, mode: 'read' | 'replace' = 'read') => {
  return () => OpenFile.open(Buffer.from(path), mode);
};

it('any content goes in and comes out in blocks of any size', async () => {
  const directory = await makeTempDirectory();
  const path = join(directory, 'f');
  const sizes = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 20_000 }), sizes, sizes, async (content, writes, reads) => {
      const handles = new FileHandles();
      await handles.open('w', openFor(path, 'replace'));
      const pending: Promise<void>[] = [];
      for (let at = 0, turn = 0; at < content.length; turn++) {
        const size = writes[turn % writes.length] as number;
        pending.push(handles.write('w', at, content.subarray(at, at + size)));
        at += size;
      }
      await Promise.all(pending);
      await handles.release('w');
      await handles.open('r', openFor(path));
      const blocks: Buffer[] = [];
      for (let at = 0, turn = 0; ; turn++) {
        const size = reads[turn % reads.length] as number;
        const block = await handles.read('r', at, size);
        blocks.push(block);
        at += block.length;
        if (block.length < size) break;
      }
      await handles.release('r');
      expect(Buffer.concat(blocks).equals(content)).toBe(true);
    }),
    { numRuns: 50 },
  );
});

it('a file is closed only when its reads are over', async () => {
  const directory = await makeTempDirectory();
  const [path, other] = [join(directory, 'f'), join(directory, 'g')];
  const content = Buffer.alloc(1024 * 1024, 'x');
  writeFileSync(path, content);
  writeFileSync(other, Buffer.alloc(content.length, 'y'));
  const handles = new FileHandles();
  await handles.open('h', openFor(path));
  const reads = Array.from({ length: 20 }, () => handles.read('h', 0, content.length));
  const closed = handles.release('h');
  // A file that is opened now gets the number that was closed last.
  await handles.open('h', openFor(other));
  for (const block of await Promise.all(reads)) expect(block.equals(content)).toBe(true);
  await closed;
  expect(countDescriptors(path)).toBe(0);
  await handles.release('h');
  expect(countDescriptors(other)).toBe(0);
});

it('an operation that comes after the close finds nothing', async () => {
  const path = join(await makeTempDirectory(), 'f');
  writeFileSync(path, 'text');
  const file = await OpenFile.open(Buffer.from(path), 'read');
  await file.close();
  await file.close();
  await expect(file.read(0, 1)).rejects.toMatchObject({ errno: 9 });
});

it('operations sent while the file is being opened wait for it; when it fails they find nothing', async () => {
  const directory = await makeTempDirectory();
  const path = join(directory, 'f');
  const handles = new FileHandles();
  const opened = handles.open('w', openFor(path, 'replace'));
  const written = handles.write('w', 0, Buffer.from('text'));
  const released = handles.release('w');
  await Promise.all([opened, written, released]);
  expect(await readFile(path, 'utf8')).toBe('text');

  const failed = handles.open('h', openFor(join(directory, 'none')));
  const read = handles.read('h', 0, 1);
  await expect(failed).rejects.toMatchObject({ errno: 2 });
  await expect(read).rejects.toThrow('unknown file handle `h`');
});

it('the end of the connection closes everything, also what is still being opened', async () => {
  const path = join(await makeTempDirectory(), 'f');
  writeFileSync(path, 'text');
  const handles = new FileHandles();
  await handles.open('open', openFor(path));
  const opening = handles.open('opening', openFor(path));
  handles.close();
  await opening;
  await handles.open('late', openFor(path));
  await vi.waitFor(() => expect(countDescriptors(path)).toBe(0));
});

it("a close that fails when the connection has ended is nobody else's trouble", async () => {
  const path = join(await makeTempDirectory(), 'f');
  writeFileSync(path, 'text');
  const handles = new FileHandles();
  const file = await OpenFile.open(Buffer.from(path), 'read');
  await handles.open('open', async () => file);
  const [fd] = findDescriptors(path);
  closeSync(fd!);
  // A rejection that nobody handles fails the run.
  handles.close();
  await expect(file.close()).rejects.toThrow('EBADF');
});
