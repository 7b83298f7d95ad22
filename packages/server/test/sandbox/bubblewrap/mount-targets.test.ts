import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requireProgram } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { holdMountTarget, isMountTarget } from '../../../src/sandbox/bubblewrap/mount-targets.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

it.each(['directory', 'file'] as const)(
  'puts a %s in place and takes it away with its last holder',
  async (kind) => {
    const directory = await makeTempDirectory();
    const path = Buffer.from(join(directory, 'target'));
    const first = await holdMountTarget(path, kind);
    const second = await holdMountTarget(path, kind);
    expect(await isMountTarget(path)).toBe(true);
    expect((await stat(path)).isDirectory()).toBe(kind === 'directory');
    await first?.release();
    expect(await readdir(directory)).toEqual(['target']);
    await second?.release();
    expect(await readdir(directory)).toEqual([]);
  },
);

it('is there for as long as anybody holds it, however many come and go', async () => {
  const directory = await makeTempDirectory();
  const path = Buffer.from(join(directory, 'target'));
  const holdOften = async () => {
    for (let time = 0; time < 20; time++) {
      const target = await holdMountTarget(path, 'directory');
      expect(target).toBeDefined();
      expect(await isMountTarget(path)).toBe(true);
      await target?.release();
    }
  };
  await Promise.all(Array.from({ length: 4 }, holdOften));
  expect(await readdir(directory)).toEqual([]);
});

it('knows its own also under a strict umask', async () => {
  const directory = await makeTempDirectory();
  const before = process.umask(0o077);
  try {
    const target = await holdMountTarget(Buffer.from(join(directory, 'target')), 'directory');
    expect(await isMountTarget(Buffer.from(join(directory, 'target')))).toBe(true);
    await target?.release();
  } finally {
    process.umask(before);
  }
  expect(await readdir(directory)).toEqual([]);
});

it('takes away what a server that was killed left behind', async () => {
  const directory = await makeTempDirectory();
  await mkdir(join(directory, 'target'));
  await chmod(join(directory, 'target'), 0o1555);
  const target = await holdMountTarget(Buffer.from(join(directory, 'target')), 'directory');
  await target?.release();
  expect(await readdir(directory)).toEqual([]);
});

it('leaves what another server holds', async (test) => {
  const flock = requireProgram('flock', test);
  const directory = await makeTempDirectory();
  const path = join(directory, 'target');
  const target = await holdMountTarget(Buffer.from(path), 'directory');
  const other = spawn(flock, ['--shared', path, 'sh', '-c', 'echo held; cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(other.stdout, 'data');
  await target?.release();
  expect(await readdir(directory)).toEqual(['target']);
  other.stdin.end();
  await once(other, 'close');
  const last = await holdMountTarget(Buffer.from(path), 'directory');
  await last?.release();
  expect(await readdir(directory)).toEqual([]);
});

it('leaves what was put to use meanwhile', async () => {
  const directory = await makeTempDirectory();
  const target = await holdMountTarget(Buffer.from(join(directory, 'target')), 'directory');
  await chmod(join(directory, 'target'), 0o755);
  await writeFile(join(directory, 'target/file'), '');
  await target?.release();
  expect(await readdir(join(directory, 'target'))).toEqual(['file']);
});

it('does not take what is somebody else’s', async () => {
  const directory = await makeTempDirectory();
  await mkdir(join(directory, 'theirs'));
  await writeFile(join(directory, 'file'), '');
  for (const name of ['theirs', 'file']) {
    const path = Buffer.from(join(directory, name));
    expect(await isMountTarget(path)).toBe(false);
    await expect(holdMountTarget(path, 'directory')).rejects.toMatchObject({ failure: 'unenforceable' });
  }
});

it('has nothing where nothing can be made', async () => {
  const directory = await makeTempDirectory();
  await writeFile(join(directory, 'file'), '');
  expect(await holdMountTarget(Buffer.from(join(directory, 'file/below')), 'directory')).toBeUndefined();
  expect(await holdMountTarget(Buffer.from(join(directory, 'no/such')), 'directory')).toBeUndefined();
});
