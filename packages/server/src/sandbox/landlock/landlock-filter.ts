import { constants } from 'node:os';
import type { Architecture } from '../bubblewrap/architecture.js';
import {
  argument,
  CALL_NUMBER,
  encode,
  finish,
  type Instruction,
  load,
  unlessEqual,
  whenAnyBit,
  whenEqual,
} from '../bubblewrap/bpf.js';

/*
 * What Landlock does not restrict, and mounts or namespaces would: what a file is like, as opposed to what is in it;
 * memory and queues that belong to the user as a whole; and sockets with paths. This filter comes on top of that of every
 * sandbox, which judges the processor and everything else.
 */

const ALLOW = 0x7fff0000;
const FAIL = 0x00050000;

type Calls = Readonly<Record<string, readonly [x64: number | undefined, arm64: number]>>;

/** Calls that change a file without opening it to write. */
const CHANGING: Calls = {
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  fchown: [93, 55],
  fchownat: [260, 54],
  utimensat: [280, 88],
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  fsetxattr: [190, 7],
  setxattrat: [463, 463],
  removexattr: [197, 14],
  lremovexattr: [198, 15],
  fremovexattr: [199, 16],
  removexattrat: [466, 466],
  file_setattr: [469, 469],
};
/** `chmod`, `chown`, `lchown`, `utime`, `utimes` and `futimesat`, which only x64 has. */
const OLD_CHANGING = [90, 92, 94, 132, 235, 261];

/** Calls to others of the same user: message queues, semaphores, and shared memory. */
const SHARING: Calls = {
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  msgget: [68, 186],
  msgctl: [71, 187],
  msgrcv: [70, 188],
  msgsnd: [69, 189],
  semget: [64, 190],
  semctl: [66, 191],
  semtimedop: [220, 192],
  semop: [65, 193],
  shmget: [29, 194],
  shmctl: [31, 195],
  shmat: [30, 196],
};

const JUDGED = {
  ioctl: [16, 29],
  socket: [41, 198],
  socketpair: [53, 199],
  prlimit64: [302, 261],
} as const satisfies Calls;

/**
 * Requests that change a file which is open only to be read: FS_IOC_SETFLAGS for both sizes of a word, FS_IOC_SETVERSION,
 * FS_IOC_FSSETXATTR, FS_IOC_SET_ENCRYPTION_POLICY and FS_IOC_ENABLE_VERITY.
 */
const CHANGING_REQUESTS = [0x40086602, 0x40046602, 0x40087602, 0x401c5820, 0x800c6613, 0x40806685];

/** Of the kinds of sockets, SOCK_DGRAM and SOCK_RAW have it. One of a pair can still be sent from to any path. */
const DATAGRAM_BIT = 2;

const AF_UNIX = 1;

/** The part of the filter that only a program restricted by Landlock needs. */
export function buildLandlockFilter(architecture: Architecture): Buffer {
  const pick = ([x64, arm64]: readonly [number | undefined, number]) =>
    architecture === 'x64' ? x64 : arm64;
  const refuse = finish(FAIL | constants.errno.EPERM);
  const forbidden = [...Object.values(CHANGING), ...Object.values(SHARING), JUDGED.socket].flatMap(
    (call) => pick(call) ?? [],
  );
  const judge = (call: keyof typeof JUDGED, steps: readonly Instruction[]) =>
    whenEqual(pick(JUDGED[call])!, [...steps, finish(ALLOW)]);
  return encode([
    load(CALL_NUMBER),
    ...[...forbidden, ...(architecture === 'x64' ? OLD_CHANGING : [])].flatMap((call) =>
      whenEqual(call, [refuse]),
    ),
    ...judge('ioctl', [
      load(argument(1)),
      ...CHANGING_REQUESTS.flatMap((request) => whenEqual(request, [refuse])),
    ]),
    ...judge('socketpair', [
      load(argument(0)),
      ...unlessEqual(AF_UNIX, [refuse]),
      load(argument(1)),
      ...whenAnyBit(DATAGRAM_BIT, [refuse]),
    ]),
    // Limits of another process are not its own to change.
    ...judge('prlimit64', [load(argument(0)), ...unlessEqual(0, [refuse])]),
    finish(ALLOW),
  ]);
}
