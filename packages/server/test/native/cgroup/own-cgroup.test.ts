import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { skipFor } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import {
  findOwnCgroup,
  locateCgroup as locateAmong,
  MAX_MOUNT_TABLE_BYTES,
} from '../../../src/native/cgroup/own-cgroup.js';
import { requireCgroups } from '../../support/cgroups.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

const UNIFIED = '29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n';

const locateCgroup = (membership: string, mounts: string) => locateAmong(membership, mounts.split('\n'));

describe('the place of a cgroup', () => {
  it('is below the mount of version 2', () => {
    const mounts = `22 1 8:1 / / rw - ext4 /dev/sda1 rw\n${UNIFIED}`;
    expect(locateCgroup('0::/user.slice/a.scope\n', mounts)).toBe('/sys/fs/cgroup/user.slice/a.scope');
    expect(locateCgroup('0::/\n', mounts)).toBe('/sys/fs/cgroup');
  });

  it('is found beside version 1', () => {
    const membership = '4:memory:/elsewhere\n1:name=systemd:/x\n0::/y\n';
    const mounts =
      '35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n' +
      '41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n';
    expect(locateCgroup(membership, mounts)).toBe('/sys/fs/cgroup/unified/y');
  });

  it('is relative to the part that is mounted', () => {
    const mounts = '41 31 0:38 /pods/a /cg\\040roup rw - cgroup2 cgroup2 rw\n';
    expect(locateCgroup('0::/pods/a/b\n', mounts)).toBe('/cg roup/b');
    expect(locateCgroup('0::/pods/a\n', mounts)).toBe('/cg roup');
    expect(() => locateCgroup('0::/pods/b\n', mounts)).toThrow('not mounted');
    expect(() => locateCgroup('0::/pods\n', mounts)).toThrow('not mounted');
  });

  it('does not exist without version 2, or without its mount', () => {
    expect(() => locateCgroup('4:memory:/elsewhere\n', UNIFIED)).toThrow('no cgroup of version 2');
    expect(() => locateCgroup('0::/\n', '22 1 8:1 / / rw - ext4 /dev/sda1 rw\n')).toThrow('not mounted');
  });

  it('is a directory of this system', (test) => {
    requireCgroups(test);
    expect(existsSync(`${findOwnCgroup()}/cgroup.procs`)).toBe(true);
  });
});

/** A file like a mount table: so many mounts of something else, then the line that has the cgroups. */
async function writeMountTable(mounts: number, last = UNIFIED): Promise<string> {
  const file = join(await makeTempDirectory(), 'mountinfo');
  const lines = Array.from(
    { length: mounts },
    (_, index) => `${index} 1 0:9 / /mnt/${index} rw - tmpfs none rw\n`,
  );
  await writeFile(file, lines.join('') + last);
  return file;
}

describe('a mount table', () => {
  it('is read no further than the line that has the cgroups', async () => {
    const file = await writeMountTable(0);
    const handle = await open(file, 'a');
    for (let index = 0; index < 100; index++)
      await handle.write('1 1 0:9 / /mnt rw - tmpfs none rw\n'.repeat(1_000));
    await handle.close();
    expect(findOwnCgroup(file)).toMatch(/^\/sys\/fs\/cgroup/);
  });

  it('of 100,000 mounts is not read to its end', async () => {
    const file = await writeMountTable(100_000);
    expect(() => findOwnCgroup(file)).toThrow(`the first ${MAX_MOUNT_TABLE_BYTES} bytes`);
  });

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('whose line of cgroups ends %i bytes behind the limit: found is %s', async (beyond, isFound) => {
    const [begin, end] = ['1 1 0:9 / /', ' rw - tmpfs none rw\n'];
    const fill = MAX_MOUNT_TABLE_BYTES + beyond - begin.length - end.length - UNIFIED.length;
    const file = await writeMountTable(0, `${begin}${'x'.repeat(fill)}${end}${UNIFIED}`);
    const find = () => findOwnCgroup(file);
    if (isFound) expect(find()).toMatch(/^\/sys\/fs\/cgroup/);
    else expect(find).toThrow(`the first ${MAX_MOUNT_TABLE_BYTES} bytes`);
  });

  it.each([0, 1])('of %i mounts of something else ends, with or without a line break', async (mounts) => {
    const find = async (last: string) => findOwnCgroup(await writeMountTable(mounts, last));
    await expect(find('')).rejects.toThrow('not mounted');
    await expect(find('1 1 0:9 / / rw - tmpfs none rw')).rejects.toThrow('not mounted');
  });

  it('of the kernel is found in with 1,000 more mounts', (test) => {
    const isolated = ['--user', '--map-root-user', '--mount', '--propagation', 'private'];
    if (spawnSync('unshare', [...isolated, 'true']).status !== 0) skipFor(test, 'namespaces');
    requireCgroups(test);
    const built = fileURLToPath(new URL('../../../dist/native/cgroup/own-cgroup.js', import.meta.url));
    // Each bind of the tree onto itself doubles it.
    const script = `
      set -e
      mount -t tmpfs none /mnt
      for index in 0 1 2 3 4 5 6 7 8 9; do mkdir /mnt/$index; mount --rbind /mnt /mnt/$index; done
      test "$(wc -l < /proc/self/mountinfo)" -gt 1000
      exec "$0" --input-type=module -e "$1"
    `;
    const find = `
      import { findOwnCgroup } from ${JSON.stringify(built)};
      console.log(findOwnCgroup());
    `;
    const args = [...isolated, 'sh', '-c', script, process.execPath, find];
    expect(execFileSync('unshare', args, { encoding: 'utf8' }).trim()).toBe(findOwnCgroup());
  });
});
