import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { posix } from 'node:path';

/**
 * Bytes of the mount table that are searched for cgroups, about 2,000 mounts. The kernel takes up to 0.1 ms for each
 * mount, and cgroups are among the first that a system or a container makes.
 */
export const MAX_MOUNT_TABLE_BYTES = 256 * 1024;

const LINE_BREAK = 0x0a;

/**
 * The directory of this thread's cgroup of version 2. Throws when there is none that can be seen.
 * @param mountTable a file as `/proc/<pid>/mountinfo` is
 */
export function findOwnCgroup(mountTable = '/proc/self/mountinfo'): string {
  const membership = readFileSync('/proc/thread-self/cgroup', 'utf8');
  const file = openSync(mountTable, 'r');
  try {
    return locateCgroup(membership, readLines(file));
  } finally {
    closeSync(file);
  }
}

/**
 * Where the group that `/proc/<pid>/cgroup` names lies among the mounts, one on each line, as in
 * `/proc/<pid>/mountinfo`. Reads no more of them than it needs. Systems that also have version 1 mount version 2 at a
 * place of its own, and a container may see only a part of the hierarchy.
 */
export function locateCgroup(membership: string, mounts: Iterable<string>): string {
  const group = membership.match(/^0::(\/.*)$/m)?.[1];
  if (group === undefined) throw new Error('this process has no cgroup of version 2');
  for (const line of mounts) {
    const [place = '', filesystem = ''] = line.split(' - ');
    if (!filesystem.startsWith('cgroup2 ')) continue;
    const [, , , root = '', mountPoint = ''] = place.split(' ').map(unescapeOctal);
    const below = posix.relative(root, group);
    if (below !== '..' && !below.startsWith('../')) return posix.join(mountPoint, below);
  }
  throw new Error('the cgroup of this process is not mounted');
}

/** The lines of a mount table, read as they are asked for. Throws when there are more bytes than are searched. */
function* readLines(file: number): Generator<string> {
  // One byte more, which tells that there is more.
  const bytes = Buffer.alloc(MAX_MOUNT_TABLE_BYTES + 1);
  let length = 0;
  let begin = 0;
  for (;;) {
    const count = readSync(file, bytes, length, bytes.length - length, null);
    const text = bytes.subarray(0, length + count);
    for (let end = text.indexOf(LINE_BREAK, length); end !== -1; end = text.indexOf(LINE_BREAK, begin)) {
      if (end >= MAX_MOUNT_TABLE_BYTES) break;
      yield text.toString('utf8', begin, end);
      begin = end + 1;
    }
    length += count;
    if (length > MAX_MOUNT_TABLE_BYTES)
      throw new Error(
        `the cgroup of this process is not among the first ${MAX_MOUNT_TABLE_BYTES} bytes of the mount table`,
      );
    if (count === 0) return;
  }
}

/** The kernel writes a space, a tab, a line break and a backslash as `\` and three octal digits. */
function unescapeOctal(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
