import { access } from 'node:fs/promises';
import { isWithin, parentPath } from '../../fs/native-path.js';
import { MASKED_FILES, READ_ONLY_FILES } from '../bubblewrap/arguments.js';
import type { Mount, MountPlan } from '../bubblewrap/plan-mounts.js';
import type { Word } from '../program/plan.js';

const ROOT = Buffer.from('/');
const DEV = Buffer.from('/dev');

/** Attributes of mounts. Nothing in a sandbox runs as its owner. */
const WITH_DEVICES = 'no-set-user';
const PLAIN = 'no-set-user,no-devices';
const READ_ONLY = `read-only,${PLAIN}`;
const KERNEL_FILES = `${PLAIN},no-programs`;

const DEVICES = ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom', '/dev/tty'];

/** Of what the kernel shows as files, what is there; that does not change while it runs. */
interface KernelFiles {
  readonly readOnly: readonly string[];
  readonly masked: readonly string[];
  readonly devices: readonly string[];
  readonly hasSys: boolean;
}

let looking: Promise<KernelFiles> | undefined;

/** Looks what kernel this is, once. */
export function findKernelFiles(): Promise<KernelFiles> {
  looking ??= lookForKernelFiles();
  return looking;
}

async function lookForKernelFiles(): Promise<KernelFiles> {
  const [readOnly, masked, devices, sys] = await Promise.all(
    [READ_ONLY_FILES, MASKED_FILES, DEVICES, ['/sys']].map(keepExisting),
  );
  return { readOnly: readOnly!, masked: masked!, devices: devices!, hasSys: sys!.length > 0 };
}

async function keepExisting(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return paths.filter((_, index) => found[index]);
}

/** The view that a plan describes. */
export function describeView({ root, mounts }: MountPlan, kernel: KernelFiles): Word[] {
  const parents = collectParents(mounts);
  const isFilled = ({ path }: Mount) => parents.has(path.toString('latin1'));
  return [
    ...describeRoot(root, kernel),
    ...mounts.flatMap((mount) => describeMount(mount, isFilled(mount))),
    // Last of all: what is mounted below them needs a place.
    ...mounts
      .filter((mount) => mount.kind === 'hide-directory' && isFilled(mount))
      .flatMap(({ path }) => ['attributes', path, 'read-only']),
    ...(root === 'empty' ? ['attributes', '/', 'read-only'] : []),
  ];
}

function describeRoot(root: MountPlan['root'], kernel: KernelFiles): Word[] {
  const own = [...describeDevices(kernel), ...describeProc(kernel)];
  const sys = kernel.hasSys ? ['bind', '/sys', '/sys', `read-only,${KERNEL_FILES}`] : [];
  switch (root) {
    case 'write':
      return ['root', 'host', PLAIN, ...own, ...sys];
    case 'read':
      return ['root', 'host', READ_ONLY, ...own, ...sys];
    case 'empty':
      return ['root', 'empty', '755', ...own];
  }
}

/** The directories that something is mounted below. */
function collectParents(mounts: readonly Mount[]): ReadonlySet<string> {
  const parents = new Set<string>();
  for (const { path } of mounts) {
    for (let parent = parentPath(path); !parent.equals(ROOT); parent = parentPath(parent)) {
      const key = parent.toString('latin1');
      if (parents.has(key)) break;
      parents.add(key);
    }
  }
  return parents;
}

/** Devices that every program may use, terminals of the sandbox's own, and the program's terminal by its usual name. */
function describeDevices({ devices }: KernelFiles): Word[] {
  return [
    ['tmpfs', '/dev', '755'],
    ...devices.map((path) => ['bind', path, path, `${WITH_DEVICES},no-programs`]),
    ['devpts', '/dev/pts', `${WITH_DEVICES},no-programs`],
    ['symlink', 'pts/ptmx', '/dev/ptmx'],
    ['symlink', '/proc/self/fd', '/dev/fd'],
    ['symlink', '/proc/self/fd/0', '/dev/stdin'],
    ['symlink', '/proc/self/fd/1', '/dev/stdout'],
    ['symlink', '/proc/self/fd/2', '/dev/stderr'],
    ['symlink', '/proc/kcore', '/dev/core'],
    ['directory', '/dev/shm', '1777'],
    ['console', '/dev/console'],
  ].flat();
}

function describeProc({ readOnly, masked }: KernelFiles): Word[] {
  return [
    ['proc', '/proc', KERNEL_FILES],
    ...readOnly.map((path) => ['bind', path, path, `read-only,${KERNEL_FILES}`]),
    ...masked.map((path) => ['hide-file', path]),
  ].flat();
}

/** @param isFilled whether something is mounted below it */
function describeMount(mount: Mount, isFilled: boolean): Word[] {
  const { path } = mount;
  switch (mount.kind) {
    case 'bind':
      if (!mount.writable) return ['bind', path, path, READ_ONLY];
      // A device in an ordinary mount could not be opened.
      return ['bind', path, path, isWithin(path, DEV) ? WITH_DEVICES : PLAIN];
    case 'hide-directory':
      if (isFilled) return ['tmpfs', path, mount.passable ? '111' : '0'];
      return ['hide-directory', path];
    case 'hide-file':
      return ['hide-file', path];
    case 'link':
      return ['symlink', mount.target, path];
  }
}
