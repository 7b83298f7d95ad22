import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findOwnCgroup, locateCgroup } from '../../../src/native/cgroup/own-cgroup.js';
import { requireCgroups } from '../../support/cgroups.js';

const UNIFIED = '29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n';

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
