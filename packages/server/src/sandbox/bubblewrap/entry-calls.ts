import type { Architecture } from './architecture.js';

/** A socket that is to be made inside of a sandbox, bound to its loopback address. */
export interface SocketRequest {
  readonly kind: 'stream' | 'datagram';
  readonly port: number;
  /** The number that it gets: of a descriptor that may be lost for it. */
  readonly as: number;
}

/** Sockets that the entry program makes inside of the sandbox and hands over to the server outside of it. */
export interface SocketHandover {
  readonly sockets: readonly SocketRequest[];
  /** Descriptor to hand them over through. */
  readonly doorFd: number;
}

/** A system call of up to three arguments. */
export type EntryCall = readonly [number: number, ...arguments: [number | bigint, number, number]];

/** As first argument: what the call before returned. */
export const LAST_RESULT = 0xffff_ffff_ffff_ffffn;

interface CallNumbers {
  readonly socket: number;
  readonly dup3: number;
  readonly bind: number;
  readonly listen: number;
  readonly sendmsg: number;
}

const CALL_NUMBERS: Readonly<Record<Architecture, CallNumbers>> = {
  x64: { socket: 41, dup3: 292, bind: 49, listen: 50, sendmsg: 46 },
  arm64: { socket: 198, dup3: 24, bind: 200, listen: 201, sendmsg: 211 },
};

const AF_INET = 2;
const SOCKET_TYPES = { stream: 1, datagram: 2 } as const;
const SOCK_CLOEXEC = 0o2000000;
const ADDRESS_BYTES = 16;
const LOOPBACK = [127, 0, 0, 1];
/** Connections that wait to be accepted. */
const BACKLOG = 128;
const SOL_SOCKET = 1;
const SCM_RIGHTS = 1;
const CONTROL_HEADER_BYTES = 16;

/** Puts bytes into the memory of the entry program and tells their address. */
export type PlaceBytes = (bytes: Buffer) => number;

/** The calls that make sockets and hand them over, one after the other. */
export function planHandover(
  architecture: Architecture,
  { sockets, doorFd }: SocketHandover,
  place: PlaceBytes,
): EntryCall[] {
  const { socket, dup3, bind, listen, sendmsg } = CALL_NUMBERS[architecture];
  return [
    ...sockets.flatMap(({ kind, port, as }): EntryCall[] => [
      [socket, AF_INET, SOCKET_TYPES[kind] | SOCK_CLOEXEC, 0],
      [dup3, LAST_RESULT, as, SOCK_CLOEXEC],
      [bind, as, place(encodeSocketAddress(port)), ADDRESS_BYTES],
      ...(kind === 'stream' ? [[listen, as, BACKLOG, 0] as const] : []),
    ]),
    [
      sendmsg,
      doorFd,
      placeMessage(
        sockets.map(({ as }) => as),
        place,
      ),
      0,
    ],
  ];
}

function encodeSocketAddress(port: number): Buffer {
  const address = Buffer.alloc(ADDRESS_BYTES);
  address.writeUInt16LE(AF_INET, 0);
  address.writeUInt16BE(port, 2);
  address.set(LOOPBACK, 4);
  return address;
}

/** A message of one byte that carries descriptors. */
function placeMessage(descriptors: readonly number[], place: PlaceBytes): number {
  const rights = Buffer.from(Int32Array.from(descriptors).buffer);
  const control = Buffer.alloc(CONTROL_HEADER_BYTES + Math.ceil(rights.length / 8) * 8);
  control.writeBigUInt64LE(BigInt(CONTROL_HEADER_BYTES + rights.length), 0);
  control.writeInt32LE(SOL_SOCKET, 8);
  control.writeInt32LE(SCM_RIGHTS, 12);
  rights.copy(control, CONTROL_HEADER_BYTES);
  const vector = [place(Buffer.alloc(1)), 1];
  // struct msghdr: name, its length, vectors, their count, control, its length, flags.
  return place(words([0, 0, place(words(vector)), 1, place(control), control.length, 0]));
}

/** Numbers as the processor has them, eight bytes each. */
export function words(numbers: readonly (number | bigint)[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 8);
  numbers.forEach((number, index) => {
    bytes.writeBigUInt64LE(BigInt(number), index * 8);
  });
  return bytes;
}
