import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { CachedLookup, type CachedStats } from '../../src/native/cached-lookup.js';
import { type Libc, loadLibc } from '../../src/native/libc.js';
import { makeTempDirectory } from '../support/temp-directory.js';

const { EAGAIN, EINVAL, ENOENT, ENOSYS, EPERM } = constants.errno;
const MAX_PATH_BYTES = 4095;

function openLookup(): CachedLookup | undefined {
  try {
    const lookup = new CachedLookup(loadLibc());
    const fd = lookup.open(Buffer.from('/'));
    if (fd === undefined) return undefined;
    lookup.close(fd);
    return lookup;
  } catch {
    return undefined;
  }
}

const found = openLookup();

/** A rename anywhere on the machine may make the kernel say that it would have to look twice. */
async function look(lookup: CachedLookup, path: string): Promise<CachedStats> {
  const fd = await vi.waitFor(() => openOrFail(lookup, path));
  const stats = lookup.stat(fd);
  lookup.close(fd);
  if (stats === undefined) throw new Error('no stats');
  return stats;
}

function openOrFail(lookup: CachedLookup, path: string): number {
  const fd = lookup.open(Buffer.from(path));
  if (fd === undefined) throw new Error(`${path} is not at hand`);
  return fd;
}

describe.runIf(found !== undefined)('what the kernel has at hand', () => {
  const lookup = found as CachedLookup;

  it.each([
    ['a file', (path: string) => writeFileSync(path, 'content', { mode: 0o640 })],
    ['a directory', (path: string) => mkdirSync(path)],
    ['a link, not followed', (path: string) => symlinkSync('/nowhere', path)],
  ])('is what `lstat` says of %s', async (_what, make) => {
    const path = join(await makeTempDirectory(), 'entry');
    make(path);
    const expected = lstatSync(path, { bigint: true });
    expect(await look(lookup, path)).toEqual({
      device: expect.any(Number),
      mode: Number(expected.mode),
      size: Number(expected.size),
      createdAtMs: Number(expected.birthtimeNs / 1_000_000n),
      modifiedAtMs: Number(expected.mtimeNs / 1_000_000n),
    });
  });

  it.each([
    ['1969-12-31T23:59:58.5Z', -1500],
    ['1969-12-31T23:59:59.9995Z', -1],
    ['1970-01-01T00:00:01.9999Z', 1999],
  ])('rounds %s down to %i milliseconds', async (time, expected) => {
    const path = join(await makeTempDirectory(), 'entry');
    execFileSync('touch', ['-d', time, path]);
    expect((await look(lookup, path)).modifiedAtMs).toBe(expected);
  });

  it('tells devices apart', async () => {
    const [root, proc] = [await look(lookup, '/'), await look(lookup, '/proc')];
    expect(root.device).not.toBe(proc.device);
  });

  it('is nothing for what is not there, and asked on', async () => {
    expect(lookup.open(Buffer.from('/tmp/no such entry'))).toBeUndefined();
    await look(lookup, '/');
  });

  it('is nothing for a path with a NUL, which C would take for its end', () => {
    expect(lookup.open(Buffer.from('/\0tmp'))).toBeUndefined();
  });

  it('is about the whole path and no more of the one before', async () => {
    await look(lookup, await makeTempDirectory());
    expect((await look(lookup, '/tmp')).mode).toBe(lstatSync('/tmp').mode);
  });
});

/** A libc whose `openat2` fails with `errno`; no kernel at hand can be made to. */
function failingLibc(errno: number): {
  libc: ConstructorParameters<typeof CachedLookup>[0];
  calls: string[];
} {
  const calls: string[] = [];
  const openat2: Libc['openat2'] = (_number, _directory, path) => {
    calls.push(Buffer.from(path.subarray(0, path.indexOf(0))).toString());
    return -1;
  };
  return { calls, libc: { openat2, statx: null, close: () => 0, errno: () => errno } };
}

describe('a kernel that refuses', () => {
  it.each([ENOSYS, EINVAL, EPERM])('the call itself with %i is not asked again', (errno) => {
    const { libc, calls } = failingLibc(errno);
    const lookup = new CachedLookup(libc);
    expect(lookup.open(Buffer.from('/'))).toBeUndefined();
    expect(lookup.open(Buffer.from('/'))).toBeUndefined();
    expect(calls).toHaveLength(1);
  });

  it.each([EAGAIN, ENOENT])('one path with %i is asked for the next', (errno) => {
    const { libc, calls } = failingLibc(errno);
    const lookup = new CachedLookup(libc);
    lookup.open(Buffer.from('/a'));
    lookup.open(Buffer.from('/b'));
    expect(calls).toEqual(['/a', '/b']);
  });

  it.each([
    [MAX_PATH_BYTES - 1, 1],
    [MAX_PATH_BYTES, 1],
    [MAX_PATH_BYTES + 1, 0],
  ])('a path of %i bytes is asked for %i times', (bytes, times) => {
    const { libc, calls } = failingLibc(EAGAIN);
    new CachedLookup(libc).open(Buffer.alloc(bytes, '/'));
    expect(calls.map(({ length }) => length)).toEqual(Array(times).fill(bytes));
  });

  it('to tell is nothing', () => {
    expect(new CachedLookup(failingLibc(EAGAIN).libc).stat(0)).toBeUndefined();
  });
});
