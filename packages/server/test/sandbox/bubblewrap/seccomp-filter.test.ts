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
    seen.writeBigUInt64LE(BigInt(argument), 16 + index * 8);
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
  ['a number that is not there', 'x64', [0x3fffffff], ALLOW],
  ['read', 'arm64', [63], ALLOW],
  ['ptrace', 'arm64', [117], EPERM],
  ['clone with a network namespace', 'arm64', [220, 0x40000011], EPERM],
  ['unshare of mounts', 'arm64', [97, 0x20000], EPERM],
  ['ioctl TIOCSTI', 'arm64', [29, 0, 0x5412], EPERM],
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
