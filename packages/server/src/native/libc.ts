import { arch, platform } from 'node:process';
import { OsError } from '../os-error.js';
import { loadKoffi } from './load-koffi.js';

/** A watch of one descriptor by the event loop. The callback runs outside of any callback scope of Node. */
export interface PollHandle {
  start(events: PollEvents, onEvent: () => void): void;
  stop(): void;
  close(): void;
}

export interface PollEvents {
  readonly readable?: boolean;
  readonly writable?: boolean;
}

/** Memory that is handed to a C function as a pointer. */
export type Memory = Uint8Array | Int32Array;

/**
 * The C library as this room uses it. Results are those of C: a negative one means that `errno()` has the reason, but
 * `posix_spawn` and its helpers return the error number itself.
 */
export interface Libc {
  pipe2(descriptors: Int32Array, flags: number): number;
  read(fd: number, into: Uint8Array, length: number): number;
  write(fd: number, from: Uint8Array, length: number): number;
  close(fd: number): number;
  open(path: Uint8Array, flags: number): number;
  flock(fd: number, operation: number): number;
  kill(pid: number, signal: number): number;
  waitpid(pid: number, status: Int32Array, options: number): number;
  waitid(idType: number, id: number, info: Uint8Array, options: number): number;
  getsid(pid: number): number;
  prctl(option: number, argument: number): number;
  prlimit(pid: number, resource: number, limit: Uint8Array | null, old: Uint8Array | null): number;
  posix_openpt(flags: number): number;
  grantpt(fd: number): number;
  unlockpt(fd: number): number;
  ptsname_r(fd: number, name: Uint8Array, size: number): number;
  posix_spawnattr_init(attributes: Uint8Array): number;
  posix_spawnattr_setflags(attributes: Uint8Array, flags: number): number;
  posix_spawnattr_setsigdefault(attributes: Uint8Array, set: Uint8Array): number;
  posix_spawnattr_setsigmask(attributes: Uint8Array, set: Uint8Array): number;
  posix_spawn_file_actions_init(actions: Uint8Array): number;
  posix_spawn_file_actions_destroy(actions: Uint8Array): number;
  posix_spawn_file_actions_adddup2(actions: Uint8Array, fd: number, as: number): number;
  posix_spawn_file_actions_addclose(actions: Uint8Array, fd: number): number;
  posix_spawn_file_actions_addopen(
    actions: Uint8Array,
    as: number,
    path: Uint8Array,
    flags: number,
    mode: number,
  ): number;
  posix_spawn_file_actions_addchdir_np(actions: Uint8Array, path: Uint8Array): number;
  posix_spawn(
    pid: Int32Array,
    path: Uint8Array,
    actions: Uint8Array,
    attributes: Uint8Array,
    argv: Uint8Array,
    env: Uint8Array,
  ): number;
  fcntl(fd: number, command: number, value: number): number;
  ioctl(fd: number, request: number, argument: Uint8Array): number;
  socketpair(family: number, type: number, protocol: number, descriptors: Int32Array): number;
  recvmsg(fd: number, message: Uint8Array, flags: number): number;
  inotify_init1(flags: number): number;
  inotify_add_watch(fd: number, path: Uint8Array, mask: number): number;
  inotify_rm_watch(fd: number, watch: number): number;
  /** No function of the C library: `syscall` with the arguments of this one call, whose number comes first. */
  openat2(number: number, directory: number, path: Uint8Array, how: Uint8Array, howBytes: number): number;
  /** `poll`, of as many `struct pollfd`. */
  pollDescriptors(entries: Uint8Array, count: number, timeoutMs: number): number;
  /** Absent before glibc 2.28. */
  readonly statx:
    | ((directory: number, path: Uint8Array, flags: number, mask: number, into: Uint8Array) => number)
    | null;
  /** Absent before glibc 2.27. */
  readonly memfd_create: ((name: Uint8Array, flags: number) => number) | null;
  /** Absent in musl. */
  readonly mallopt: ((option: number, value: number) => number) | null;
  /** Absent before glibc 2.34 and in musl. */
  readonly addClosefrom: ((actions: Uint8Array, from: number) => number) | null;
  /** No function of the C library, but of Node, and not of every one: returns the bytes that it has written. */
  readonly simdutfToBase64:
    | ((from: Uint8Array, length: number, into: Uint8Array, options: number) => number)
    | null;
  /** Why the last call that answered with a negative number did so. */
  errno(): number;
  address(memory: Memory): bigint;
  poll(fd: number, events: PollEvents, onEvent: () => void): PollHandle;
}

/** `siginfo_t`, `ioctl` numbers and open flags below are laid out alike on these, and differently on others. */
const ARCHITECTURES: ReadonlySet<string> = new Set(['x64', 'arm64', 'riscv64', 'loong64']);

const PROTOTYPES = {
  pipe2: 'int pipe2(void *descriptors, int flags)',
  read: 'int64 read(int fd, void *into, size_t length)',
  write: 'int64 write(int fd, const void *from, size_t length)',
  close: 'int close(int fd)',
  flock: 'int flock(int fd, int operation)',
  kill: 'int kill(int pid, int signal)',
  waitpid: 'int waitpid(int pid, void *status, int options)',
  waitid: 'int waitid(int type, uint id, void *info, int options)',
  getsid: 'int getsid(int pid)',
  prlimit: 'int prlimit(int pid, int resource, const void *limit, void *old)',
  posix_openpt: 'int posix_openpt(int flags)',
  grantpt: 'int grantpt(int fd)',
  unlockpt: 'int unlockpt(int fd)',
  ptsname_r: 'int ptsname_r(int fd, void *name, size_t size)',
  posix_spawnattr_init: 'int posix_spawnattr_init(void *attributes)',
  posix_spawnattr_setflags: 'int posix_spawnattr_setflags(void *attributes, short flags)',
  posix_spawnattr_setsigdefault: 'int posix_spawnattr_setsigdefault(void *attributes, const void *set)',
  posix_spawnattr_setsigmask: 'int posix_spawnattr_setsigmask(void *attributes, const void *set)',
  posix_spawn_file_actions_init: 'int posix_spawn_file_actions_init(void *actions)',
  posix_spawn_file_actions_destroy: 'int posix_spawn_file_actions_destroy(void *actions)',
  posix_spawn_file_actions_adddup2: 'int posix_spawn_file_actions_adddup2(void *actions, int fd, int as)',
  posix_spawn_file_actions_addclose: 'int posix_spawn_file_actions_addclose(void *actions, int fd)',
  posix_spawn_file_actions_addopen:
    'int posix_spawn_file_actions_addopen(void *actions, int as, const void *path, int flags, uint mode)',
  posix_spawn_file_actions_addchdir_np:
    'int posix_spawn_file_actions_addchdir_np(void *actions, const void *path)',
  posix_spawn:
    'int posix_spawn(void *pid, const void *path, void *actions, void *attributes, const void *argv, const void *env)',
  socketpair: 'int socketpair(int family, int type, int protocol, void *descriptors)',
  recvmsg: 'int64 recvmsg(int fd, void *message, int flags)',
  inotify_init1: 'int inotify_init1(int flags)',
  inotify_add_watch: 'int inotify_add_watch(int fd, const void *path, uint mask)',
  inotify_rm_watch: 'int inotify_rm_watch(int fd, int watch)',
} as const;

const OPENAT2 =
  'int64 syscall(int64 number, int64 directory, const void *path, const void *how, size_t size)';
const POLL = 'int poll(void *entries, ulong count, int timeout)';
const STATX = 'int statx(int directory, const void *path, int flags, uint mask, void *into)';
const MEMFD_CREATE = 'int memfd_create(const void *name, uint flags)';
const MALLOPT = 'int mallopt(int option, int value)';
const CLOSEFROM = 'int posix_spawn_file_actions_addclosefrom_np(void *actions, int from)';
/** `simdutf::binary_to_base64`. A C++ compiler spells the types of the parameters into the name: others have another. */
const SIMDUTF_TO_BASE64 =
  'size_t _ZN7simdutf16binary_to_base64EPKcmPcNS_14base64_optionsE(const void *from, size_t length, void *into, uint64 options)';

type Declared = Pick<Libc, keyof typeof PROTOTYPES>;

let loaded: { readonly libc: Libc } | { readonly failure: Error } | undefined;

/** The C library of this process, loaded at the first call. Throws where the native launcher cannot work. */
export function loadLibc(): Libc {
  if (loaded === undefined) {
    try {
      loaded = { libc: declareLibc() };
    } catch (error) {
      loaded = { failure: error instanceof Error ? error : new Error(String(error)) };
    }
  }
  if ('failure' in loaded) throw loaded.failure;
  return loaded.libc;
}

function declareLibc(): Libc {
  if (platform !== 'linux' || !ARCHITECTURES.has(arch)) {
    throw new Error(`no native launcher for ${platform} on ${arch}`);
  }
  const koffi = loadKoffi();
  const library = koffi.load(null);
  let errno = 0;
  // Read before anything else runs: whatever loads a file, or collects garbage, makes calls of its own.
  const noteErrno =
    <Args extends readonly unknown[]>(call: (...args: Args) => unknown) =>
    (...args: Args) => {
      const result = call(...args) as number;
      if (result < 0) errno = koffi.errno();
      return result;
    };
  const declare = (prototype: string) => noteErrno(library.func(prototype));
  const declared = Object.fromEntries(
    Object.entries(PROTOTYPES).map(([name, prototype]) => [name, declare(prototype)]),
  ) as unknown as Declared;
  const open = declare('int open(const void *path, int flags, ...)');
  const fcntl = declare('int fcntl(int fd, int command, ...)');
  const ioctl = declare('int ioctl(int fd, ulong request, ...)');
  const prctl = declare('int prctl(int option, ...)');
  if (typeof koffi.node.poll !== 'function') throw new Error('koffi cannot watch descriptors');
  return {
    ...declared,
    open: (path, flags) => open(path, flags),
    fcntl: (fd, command, value) => fcntl(fd, command, 'int', value),
    ioctl: (fd, request, argument) => ioctl(fd, request, 'void *', argument),
    prctl: (option, argument) => prctl(option, 'ulong', argument, 'ulong', 0, 'ulong', 0, 'ulong', 0),
    openat2: declare(OPENAT2),
    pollDescriptors: declare(POLL),
    statx: unlessAbsent(() => declare(STATX)),
    memfd_create: unlessAbsent(() => declare(MEMFD_CREATE)),
    mallopt: unlessAbsent(() => declare(MALLOPT)),
    addClosefrom: unlessAbsent(() => declare(CLOSEFROM)),
    simdutfToBase64: unlessAbsent(() => declare(SIMDUTF_TO_BASE64)),
    errno: () => errno,
    address: (memory) => koffi.address(memory),
    poll: (fd, events, onEvent) => koffi.node.poll(fd, events, onEvent),
  };
}

function unlessAbsent<F>(declare: () => F): F | null {
  try {
    return declare();
  } catch {
    return null;
  }
}

/** Returns `result`, or throws the `OsError` of a call that answered with a negative one. */
export function checkResult(libc: Libc, result: number, syscall: string): number {
  if (result < 0) throw new OsError(libc.errno(), syscall);
  return result;
}

/** Throws the `OsError` of a call that returns its error number. */
export function checkErrno(errno: number, syscall: string): void {
  if (errno !== 0) throw new OsError(errno, syscall);
}
