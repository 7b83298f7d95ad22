import type { Architecture } from './architecture.js';

type CallNumbers = Readonly<Record<Architecture, number>>;

/** Calls that no sandboxed program may make. */
const FORBIDDEN: Readonly<Record<string, CallNumbers>> = {
  // Other processes.
  ptrace: { x64: 101, arm64: 117 },
  process_vm_readv: { x64: 310, arm64: 270 },
  process_vm_writev: { x64: 311, arm64: 271 },
  kcmp: { x64: 312, arm64: 272 },
  pidfd_getfd: { x64: 438, arm64: 438 },
  // Mounts and namespaces.
  mount: { x64: 165, arm64: 40 },
  umount2: { x64: 166, arm64: 39 },
  pivot_root: { x64: 155, arm64: 41 },
  chroot: { x64: 161, arm64: 51 },
  move_mount: { x64: 429, arm64: 429 },
  open_tree: { x64: 428, arm64: 428 },
  fsopen: { x64: 430, arm64: 430 },
  fsconfig: { x64: 431, arm64: 431 },
  fsmount: { x64: 432, arm64: 432 },
  fspick: { x64: 433, arm64: 433 },
  mount_setattr: { x64: 442, arm64: 442 },
  open_tree_attr: { x64: 467, arm64: 467 },
  listns: { x64: 470, arm64: 470 },
  setns: { x64: 308, arm64: 268 },
  // Files by other ways than their paths.
  open_by_handle_at: { x64: 304, arm64: 265 },
  fanotify_init: { x64: 300, arm64: 262 },
  // Keys, which are kept by user and not by sandbox.
  keyctl: { x64: 250, arm64: 219 },
  add_key: { x64: 248, arm64: 217 },
  request_key: { x64: 249, arm64: 218 },
  // Parts of the kernel with a history of holes.
  bpf: { x64: 321, arm64: 280 },
  perf_event_open: { x64: 298, arm64: 241 },
  io_uring_setup: { x64: 425, arm64: 425 },
  io_uring_enter: { x64: 426, arm64: 426 },
  io_uring_register: { x64: 427, arm64: 427 },
  userfaultfd: { x64: 323, arm64: 282 },
  // The machine as a whole.
  init_module: { x64: 175, arm64: 105 },
  finit_module: { x64: 313, arm64: 273 },
  delete_module: { x64: 176, arm64: 106 },
  kexec_load: { x64: 246, arm64: 104 },
  kexec_file_load: { x64: 320, arm64: 294 },
  reboot: { x64: 169, arm64: 142 },
  swapon: { x64: 167, arm64: 224 },
  swapoff: { x64: 168, arm64: 225 },
  acct: { x64: 163, arm64: 89 },
  quotactl: { x64: 179, arm64: 60 },
  quotactl_fd: { x64: 443, arm64: 443 },
  syslog: { x64: 103, arm64: 116 },
};

/**
 * The newest call that was looked at here: `rseq_slice_yield` of Linux 7.0, on both processors. What comes after it is not
 * known to be harmless. On x64 the calls of x32 follow behind, from 512 on, which older kernels take without their mark.
 */
export const NEWEST_CALL = 471;

/** Calls that depend on their arguments. */
export const JUDGED_CALLS = {
  clone: { x64: 56, arm64: 220 },
  clone3: { x64: 435, arm64: 435 },
  unshare: { x64: 272, arm64: 97 },
  ioctl: { x64: 16, arm64: 29 },
  socket: { x64: 41, arm64: 198 },
  socketpair: { x64: 53, arm64: 199 },
  openat: { x64: 257, arm64: 56 },
  openat2: { x64: 437, arm64: 437 },
  renameat2: { x64: 316, arm64: 276 },
} as const satisfies Readonly<Record<string, CallNumbers>>;

export type JudgedCall = keyof typeof JUDGED_CALLS;

/** `open`, which only x64 has besides `openat`. */
export const OLD_OPEN_CALL = 2;

/** A call, and which of its arguments is a mode. */
export interface ModeCall {
  readonly call: number;
  readonly mode: number;
}

/** `chmod`, `fchmod`, `fchmodat`, `fchmodat2` and `creat`, where there are such calls. `mkdir` ignores set-id bits. */
export const MODE_CALLS: Readonly<Record<Architecture, readonly ModeCall[]>> = {
  x64: [
    { call: 90, mode: 1 },
    { call: 91, mode: 1 },
    { call: 268, mode: 2 },
    { call: 452, mode: 2 },
    { call: 85, mode: 1 },
  ],
  arm64: [
    { call: 52, mode: 1 },
    { call: 53, mode: 2 },
    { call: 452, mode: 2 },
  ],
};

/** `mknod` and `mknodat`, whose mode also says what is made. */
export const NODE_CALLS: Readonly<Record<Architecture, readonly ModeCall[]>> = {
  x64: [
    { call: 133, mode: 1 },
    { call: 259, mode: 2 },
  ],
  arm64: [{ call: 33, mode: 2 }],
};

/** `iopl` and `ioperm`, which only this processor has. */
const PORT_CALLS = [172, 173];

/** The numbers of all forbidden calls. */
export const FORBIDDEN_CALLS: Readonly<Record<Architecture, readonly number[]>> = {
  x64: [...Object.values(FORBIDDEN).map(({ x64 }) => x64), ...PORT_CALLS],
  arm64: Object.values(FORBIDDEN).map(({ arm64 }) => arm64),
};
