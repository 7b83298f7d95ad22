import { expect, it } from 'vitest';
import type { Architecture } from '../../../src/sandbox/bubblewrap/architecture.js';
import { type AllowedSockets, buildSeccompFilter } from '../../../src/sandbox/bubblewrap/seccomp-filter.js';

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const failWith = (errno: number) => 0x00050000 | errno;
const EPERM = failWith(1);
const ENOSYS = failWith(38);

const NAMES: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

interface Call {
  readonly number: number;
  readonly processor: number;
  readonly args?: readonly number[];
}

/** Runs a filter as the kernel does, with what it sees of a call. */
function judge(filter: Buffer, { number, processor, args = [] }: Call): number {
  const seen = Buffer.alloc(64);
  seen.writeUInt32LE(number, 0);
  seen.writeUInt32LE(processor, 4);
  args.forEach((argument, index) => {
    seen.writeBigUInt64LE(BigInt.asUintN(64, BigInt(argument)), 16 + index * 8);
  });
  let word = 0;
  for (let at = 0; ; at += 8) {
    const [code, ifTrue, ifFalse, operand] = [
      filter.readUInt16LE(at),
      filter.readUInt8(at + 2),
      filter.readUInt8(at + 3),
      filter.readUInt32LE(at + 4),
    ];
    const jump = (holds: boolean) => {
      at += (holds ? ifTrue : ifFalse) * 8;
    };
    switch (code) {
      case 0x20:
        word = seen.readUInt32LE(operand);
        break;
      case 0x15:
        jump(word === operand);
        break;
      case 0x35:
        jump(word >= operand);
        break;
      case 0x45:
        jump((word & operand) !== 0);
        break;
      case 0x06:
        return operand;
      default:
        throw new Error(`instruction ${code} is unknown`);
    }
  }
}

function judgeOn(architecture: Architecture, sockets: AllowedSockets = 'unix') {
  const filter = buildSeccompFilter(architecture, sockets);
  return (number: number, ...args: number[]) =>
    judge(filter, { number, processor: NAMES[architecture], args });
}

it.each<[string, Architecture, number[], number]>([
  ['read', 'x64', [0], ALLOW],
  ['ptrace', 'x64', [101], EPERM],
  ['mount', 'x64', [165], EPERM],
  ['io_uring_setup', 'x64', [425], EPERM],
  ['clone3', 'x64', [435], ENOSYS],
  ['clone of a thread', 'x64', [56, 0x3d0f00], ALLOW],
  ['clone with a user namespace', 'x64', [56, 0x10000011], EPERM],
  ['unshare of files', 'x64', [272, 0x400], ALLOW],
  ['unshare of time', 'x64', [272, 0x80], EPERM],
  ['unshare of mounts', 'x64', [272, 0x20000], EPERM],
  ['ioctl TCGETS', 'x64', [16, 0, 0x5401], ALLOW],
  ['ioctl TIOCSTI', 'x64', [16, 0, 0x5412], EPERM],
  ['ioctl TIOCSTI with more bits, which the kernel ignores', 'x64', [16, 0, 0x1_0000_5412], EPERM],
  ['read by a number of x32', 'x64', [0x40000000], KILL],
  ['open_tree_attr', 'x64', [467], EPERM],
  ['the newest call that is known', 'x64', [471], ALLOW],
  ['the next one', 'x64', [472], ENOSYS],
  ['ptrace by its number of x32 without the mark', 'x64', [521], ENOSYS],
  ['the last number without the mark', 'x64', [0x3fffffff], ENOSYS],
  ['openat2', 'x64', [437], ENOSYS],
  ['open of what is there, with any mode', 'x64', [2, 0, 0o2, 0o7777], ALLOW],
  ['open of something new', 'x64', [2, 0, 0o102, 0o1777], ALLOW],
  ['open of something new with S_ISUID', 'x64', [2, 0, 0o102, 0o4755], EPERM],
  ['open of something nameless with S_ISGID', 'x64', [2, 0, 0o20200002, 0o2755], EPERM],
  ['openat of something new with S_ISUID', 'x64', [257, -100, 0, 0o102, 0o4755], EPERM],
  ['chmod of a whole st_mode', 'x64', [90, 0, 0o120777], ALLOW],
  ['mkdir with any mode', 'x64', [83, 0, 0o7777], ALLOW],
  ['mknod of a pipe', 'x64', [133, 0, 0o10666], ALLOW],
  ['mknod of a socket', 'x64', [133, 0, 0o140666], ALLOW],
  ['mknod of a disk', 'x64', [133, 0, 0o60666], EPERM],
  ['rename', 'x64', [316, -100, 0, -100, 0, 1], ALLOW],
  ['rename that leaves a whiteout', 'x64', [316, -100, 0, -100, 0, 5], EPERM],
  ['read', 'arm64', [63], ALLOW],
  ['ptrace', 'arm64', [117], EPERM],
  ['clone with a network namespace', 'arm64', [220, 0x40000011], EPERM],
  ['unshare of mounts', 'arm64', [97, 0x20000], EPERM],
  ['ioctl TIOCSTI', 'arm64', [29, 0, 0x5412], EPERM],
  ['open_tree_attr', 'arm64', [467], EPERM],
  ['the newest call that is known', 'arm64', [471], ALLOW],
  ['the next one', 'arm64', [472], ENOSYS],
  ['a call of number -1', 'arm64', [0xffffffff], ENOSYS],
  ['io_destroy, which has the number of open elsewhere', 'arm64', [2, 0, 0o102, 0o4755], ALLOW],
  ['openat of something new with S_ISUID', 'arm64', [56, -100, 0, 0o102, 0o4755], EPERM],
  ['openat of what is there, with any mode', 'arm64', [56, -100, 0, 0o2, 0o4755], ALLOW],
  ['fchmod with S_ISGID', 'arm64', [52, 0, 0o2755], EPERM],
  ['fchmodat with S_ISUID', 'arm64', [53, -100, 0, 0o4755], EPERM],
  ['fchmodat2 with S_ISUID', 'arm64', [452, -100, 0, 0o4755], EPERM],
  ['mknodat of a terminal', 'arm64', [33, -100, 0, 0o20666], EPERM],
  ['rename that leaves a whiteout', 'arm64', [276, -100, 0, -100, 0, 4], EPERM],
])('%s on %s', (_name, architecture, [number = 0, ...args], verdict) => {
  expect(judgeOn(architecture)(number, ...args)).toBe(verdict);
});

it.each<[AllowedSockets, readonly number[]]>([
  ['any', [1, 2, 10, 16, 17, 40]],
  ['inet', [1, 2, 10]],
  ['unix', [1]],
])('allows sockets: %s', (sockets, allowed) => {
  for (const [architecture, calls] of [
    ['x64', [41, 53]],
    ['arm64', [198, 199]],
  ] as const)
    for (const call of calls) {
      const families = [1, 2, 10, 16, 17, 40].filter(
        (family) => judgeOn(architecture, sockets)(call, family) === ALLOW,
      );
      expect(families).toEqual(allowed);
    }
});

it('ends whoever calls in the way of another processor', () => {
  const filter = buildSeccompFilter('x64', 'any');
  for (const processor of [0x40000003, NAMES.arm64])
    expect(judge(filter, { number: 0, processor })).toBe(KILL);
});
