import { chmodSync, lstatSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { findCachedEntry } from '../../src/fs/cached-entry.js';
import { readMetadata } from '../../src/fs/metadata.js';
import { CachedLookup } from '../../src/native/cached-lookup.js';
import { loadLibc } from '../../src/native/libc.js';
import { makeTempDirectory } from '../support/temp-directory.js';

function isSupported(): boolean {
  try {
    const lookup = new CachedLookup(loadLibc());
    const fd = lookup.open(Buffer.from('/'));
    if (fd !== undefined) lookup.close(fd);
    return fd !== undefined;
  } catch {
    return false;
  }
}

/** The first question about a device is only noted; what it is has to be found out. */
function whenCached(path: string) {
  return vi.waitFor(() => {
    const stats = findCachedEntry(Buffer.from(path));
    if (stats === undefined) throw new Error(`${path} is not at hand`);
    return stats;
  });
}

describe.runIf(isSupported())('an entry that is at hand', () => {
  it('is told as it is now', async () => {
    const path = join(await makeTempDirectory(), 'file');
    writeFileSync(path, 'one');
    expect(await whenCached(path)).toMatchObject({ size: 3, mode: lstatSync(path).mode });
    writeFileSync(path, 'longer');
    chmodSync(path, 0o600);
    expect(await whenCached(path)).toMatchObject({ size: 6, mode: 0o100600 });
  });

  it('leaves no descriptor behind', async () => {
    const path = join(await makeTempDirectory(), 'file');
    writeFileSync(path, '');
    await whenCached(path);
    for (let count = 0; count < 50; count++) findCachedEntry(Buffer.from(path));
    const targets = readdirSync('/proc/self/fd').map((fd) => readLinkOf(fd));
    expect(targets).not.toContain(path);
  });

  it('is none of a file system that makes its files up', async () => {
    const path = Buffer.from('/proc/self/status');
    await whenCached(await makeTempDirectory());
    for (let count = 0; count < 3; count++) {
      expect(findCachedEntry(path)).toBeUndefined();
      // A way to the thread pool and back, as the question about the device takes.
      await readMetadata(path, { followSymlinks: true });
    }
  });

  it('describes the same as the thread pool does', async () => {
    const directory = await makeTempDirectory();
    const file = join(directory, 'file');
    const link = join(directory, 'link');
    writeFileSync(file, 'content');
    symlinkSync(file, link);
    for (const path of [directory, file, link]) {
      await whenCached(path);
      for (const describeLink of [false, true]) {
        const options = { followSymlinks: true, describeLink };
        const findCached = vi.fn(findCachedEntry);
        expect(await readMetadata(Buffer.from(path), { ...options, findCached })).toEqual(
          await readMetadata(Buffer.from(path), options),
        );
        expect(findCached).toHaveBeenCalledOnce();
      }
    }
  });
});

function readLinkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    // That of the listing itself is closed by now.
    return '';
  }
}

describe('without an entry at hand', () => {
  it('the thread pool is asked', async () => {
    const directory = await makeTempDirectory();
    const options = { followSymlinks: true, findCached: () => undefined };
    expect(await readMetadata(Buffer.from(directory), options)).toMatchObject({ isDirectory: true });
    await expect(readMetadata(Buffer.from(join(directory, 'none')), options)).rejects.toThrow(
      'No such file or directory (os error 2)',
    );
  });

  it('it is not asked for where links are refused, which it would not notice', async () => {
    const directory = await makeTempDirectory();
    const findCached = vi.fn(findCachedEntry);
    await readMetadata(Buffer.from(directory), { followSymlinks: false, findCached });
    expect(findCached).not.toHaveBeenCalled();
  });
});
