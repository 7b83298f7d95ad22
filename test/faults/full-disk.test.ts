import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type SkippableTest, skipFor } from '@exec-server/testing';
import { expect, it, onTestFinished } from 'vitest';
import { openSession, serve, startParams } from '../e2e/session.js';
import { countDescriptors, untilDescriptors } from './support.js';

const DISK_BYTES = 1024 * 1024;
const NO_SPACE = 'No space left on device (os error 28)';
const base64 = (bytes: number) => Buffer.alloc(bytes, 'x').toString('base64');

/** A disk of one mebibyte. */
async function mountSmallDisk(test: SkippableTest): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'full-disk-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=700`, 'none', directory]);
  if (mount.status !== 0) skipFor(test, 'the right to mount');
  onTestFinished(() => void spawnSync('umount', ['--lazy', directory]));
  return directory;
}

it('a file that does not fit is an error, the one that was there stays, and so does the server', async (test) => {
  const disk = await mountSmallDisk(test);
  const server = await serve();
  const { wire } = await openSession(server.url);
  const file = join(disk, 'file');
  const path = pathToFileURL(file).href;
  await writeFile(file, 'before');
  const descriptors = countDescriptors(server.pid);

  const whole = await wire.request('fs/writeFile', {
    path,
    dataBase64: base64(2 * DISK_BYTES),
    atomic: true,
  });
  expect(whole.error).toMatchObject({ code: -32603, message: expect.stringContaining(NO_SPACE) });
  expect(await readFile(file, 'utf8')).toBe('before');
  // What was written beside it to replace it is gone, too.
  expect(await readdir(disk)).toEqual(['file']);

  await wire.request('fs/open', { handleId: 'h', path, mode: 'replace' });
  const blocks = [];
  for (let offset = 0; offset < 2 * DISK_BYTES; offset += DISK_BYTES / 2)
    blocks.push(
      await wire.request('fs/writeBlock', { handleId: 'h', offset, chunk: base64(DISK_BYTES / 2) }),
    );
  expect(blocks.at(0)?.error).toBeUndefined();
  expect(blocks.at(-1)?.error).toMatchObject({ message: expect.stringContaining(NO_SPACE) });
  await wire.request('fs/close', { handleId: 'h' });

  await wire.request('fs/remove', { path });
  expect((await wire.request('fs/writeFile', { path, dataBase64: base64(10) })).error).toBeUndefined();
  await untilDescriptors(server.pid, descriptors);
});

it('output that is to be kept on it ends with the error, and the process with its own', async (test) => {
  const disk = await mountSmallDisk(test);
  const server = await serve('--spill-dir', disk);
  const { wire } = await openSession(server.url);
  const print = ['/bin/sh', '-c', `head -c ${3 * DISK_BYTES} /dev/zero; exit 4`];
  await wire.request('process/start', startParams('p', print, { spill: true }));
  const { result } = await wire.request('process/wait', { processId: 'p' });
  expect(result).toMatchObject({
    exitCode: 4,
    spill: { complete: true, truncated: true, error: expect.stringContaining(NO_SPACE) },
  });
  const next = await wire.request('process/start', startParams('q', ['/bin/true'], { spill: true }));
  // Whether its file can still be made is up to the file system; without one nothing is started.
  if (next.error !== undefined) expect(next.error.message).toContain(NO_SPACE);
  expect((await wire.request('process/start', startParams('r', ['/bin/true']))).error).toBeUndefined();
});
