import { existsSync } from 'node:fs';
import { isWithin } from '../../fs/native-path.js';
import type { Mount, MountPlan } from './plan-mounts.js';

type Word = string | Buffer;

/** Descriptors for empty files, as many as are asked for. */
export type EmptyFiles = () => number;

const DEV = Buffer.from('/dev');

/** Of the kernel's own file systems, what tells about or changes the whole machine. Files of these are emptied. */
export const MASKED_FILES = [
  '/proc/kcore',
  '/proc/keys',
  '/proc/timer_list',
  '/proc/sched_debug',
  '/proc/latency_stats',
  '/proc/sysrq-trigger',
];
/** The same, to be read only: the user `root` may write there, whatever has been taken from him otherwise. */
export const READ_ONLY_FILES = ['/proc/sys', '/proc/bus', '/proc/fs', '/proc/irq', '/proc/scsi'];

/** What every sandbox is made of, whatever it allows. */
export function describeNamespaces(network: 'shared' | 'own'): Word[] {
  return [
    '--unshare-user',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-cgroup-try',
    ...(network === 'own' ? ['--unshare-net'] : []),
    '--cap-drop',
    'ALL',
  ];
}

/** The view that a plan describes. */
export function describeView({ root, mounts }: MountPlan, openEmptyFile: EmptyFiles): Word[] {
  const words: Word[] = [...describeRoot(root)];
  for (const mount of mounts) words.push(...describeMount(mount, openEmptyFile));
  // Last of all: what is mounted below them needs a place.
  for (const mount of mounts) if (mount.kind === 'hide-directory') words.push('--remount-ro', mount.path);
  if (root === 'empty') words.push('--remount-ro', '/');
  return words;
}

function describeRoot(root: MountPlan['root']): Word[] {
  const own = ['--dev', '/dev', ...describeProc()];
  const kernel = existsSync('/sys') ? ['--ro-bind', '/sys', '/sys'] : [];
  switch (root) {
    case 'write':
      return ['--bind', '/', '/', ...own, ...kernel];
    case 'read':
      return ['--ro-bind', '/', '/', ...own, ...kernel];
    case 'empty':
      return own;
  }
}

function describeProc(): Word[] {
  return [
    '--proc',
    '/proc',
    ...READ_ONLY_FILES.filter(existsSync).flatMap((path) => ['--ro-bind', path, path]),
    ...MASKED_FILES.filter(existsSync).flatMap((path) => ['--ro-bind', '/dev/null', path]),
  ];
}

function describeMount(mount: Mount, openEmptyFile: EmptyFiles): Word[] {
  const { path } = mount;
  switch (mount.kind) {
    case 'bind':
      // A device in an ordinary mount could not be opened.
      if (isWithin(path, DEV)) return [mount.writable ? '--dev-bind' : '--ro-bind', path, path];
      return [mount.writable ? '--bind' : '--ro-bind', path, path];
    case 'hide-directory':
      return ['--perms', mount.passable ? '0111' : '0000', '--tmpfs', path];
    case 'hide-file':
      return ['--perms', '0000', '--ro-bind-data', String(openEmptyFile()), path];
    case 'link':
      return ['--symlink', mount.target, path];
  }
}

/** The words as bubblewrap reads them from a descriptor. */
export function encodeArguments(words: readonly Word[]): Buffer {
  return Buffer.concat(words.flatMap((word) => [Buffer.from(word), Buffer.of(0)]));
}
