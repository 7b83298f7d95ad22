import { DescriptorScope, O_CLOEXEC } from './descriptors.js';
import { checkResult, type Libc, loadLibc } from './libc.js';

// Linux values, the same on every architecture that libc.ts admits; also the layout below.
const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_CLOEXEC = O_CLOEXEC;
const MSG_DONTWAIT = 0x40;
const MSG_CMSG_CLOEXEC = 0x40000000;
const SOL_SOCKET = 1;
const SCM_RIGHTS = 1;

const MESSAGE_HEADER_BYTES = 56;
const CONTROL_HEADER_BYTES = 16;
const DESCRIPTOR_BYTES = 4;

/** A way for a child to hand over descriptors of its own: such as sockets of a network that only the child is in. */
export interface DescriptorDoor {
  /** The child's end, close-on-exec; a child gets it as an extra descriptor. */
  readonly fd: number;
  /**
   * The descriptors that the child has handed over by now, close-on-exec and the caller's from here on; at most `count`.
   * Throws `OsError` when there are none.
   */
  receive(count: number): number[];
  /** Lets go of both ends. Idempotent. */
  close(): void;
}

/** Throws `OsError`. */
export function openDescriptorDoor(): DescriptorDoor {
  const libc = loadLibc();
  const ends = new Int32Array(2);
  checkResult(libc, libc.socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 'socketpair');
  const scope = new DescriptorScope(libc);
  const [ours = -1, theirs = -1] = ends;
  scope.own(ours);
  scope.own(theirs);
  return {
    fd: theirs,
    receive: (count) => receive(libc, ours, count),
    close: () => scope.closeAll(),
  };
}

function receive(libc: Libc, fd: number, count: number): number[] {
  const control = Buffer.alloc(CONTROL_HEADER_BYTES + alignToWord(count * DESCRIPTOR_BYTES));
  const byte = Buffer.alloc(1);
  const vector = Buffer.alloc(16);
  vector.writeBigUInt64LE(libc.address(byte), 0);
  vector.writeBigUInt64LE(BigInt(byte.length), 8);
  // struct msghdr: name, its length, vectors, their count, control, its length, flags.
  const message = Buffer.alloc(MESSAGE_HEADER_BYTES);
  message.writeBigUInt64LE(libc.address(vector), 16);
  message.writeBigUInt64LE(1n, 24);
  message.writeBigUInt64LE(libc.address(control), 32);
  message.writeBigUInt64LE(BigInt(control.length), 40);
  checkResult(libc, libc.recvmsg(fd, message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC), 'recvmsg');
  const isRights = control.readInt32LE(8) === SOL_SOCKET && control.readInt32LE(12) === SCM_RIGHTS;
  if (message.readBigUInt64LE(40) === 0n || !isRights) return [];
  const bytes = Number(control.readBigUInt64LE(0)) - CONTROL_HEADER_BYTES;
  return Array.from({ length: bytes / DESCRIPTOR_BYTES }, (_, index) =>
    control.readInt32LE(CONTROL_HEADER_BYTES + index * DESCRIPTOR_BYTES),
  );
}

function alignToWord(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}
