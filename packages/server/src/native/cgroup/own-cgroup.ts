import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** The directory of this thread's cgroup of version 2. Throws when there is none that can be seen. */
export function findOwnCgroup(): string {
  const membership = readFileSync('/proc/thread-self/cgroup', 'utf8');
  return locateCgroup(membership, readFileSync('/proc/self/mountinfo', 'utf8'));
}

/**
 * Where the group that `/proc/<pid>/cgroup` names lies among the mounts of `/proc/<pid>/mountinfo`. Systems that also
 * have version 1 mount version 2 at a place of its own, and a container may see only a part of the hierarchy.
 */
export function locateCgroup(membership: string, mountinfo: string): string {
  const group = membership.match(/^0::(\/.*)$/m)?.[1];
  if (group === undefined) throw new Error('this process has no cgroup of version 2');
  for (const line of mountinfo.split('\n')) {
    const [place = '', filesystem = ''] = line.split(' - ');
    if (!filesystem.startsWith('cgroup2 ')) continue;
    const [, , , root = '', mountPoint = ''] = place.split(' ').map(unescapeOctal);
    const below = posix.relative(root, group);
    if (below !== '..' && !below.startsWith('../')) return posix.join(mountPoint, below);
  }
  throw new Error('the cgroup of this process is not mounted');
}

/** The kernel writes a space, a tab, a line break and a backslash as `\` and three octal digits. */
function unescapeOctal(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
