import { constants } from 'node:os';
import type { ConfineOptions } from '../backend.js';
import type { ResolvedPolicy } from '../policy/policy.js';
import type { Architecture } from './architecture.js';
import {
  argument,
  CALL_NUMBER,
  encode,
  finish,
  type Instruction,
  load,
  PROCESSOR,
  unlessEqual,
  whenAnyBit,
  whenAtLeast,
  whenEqual,
} from './bpf.js';
import {
  FORBIDDEN_CALLS,
  JUDGED_CALLS,
  type JudgedCall,
  MODE_CALLS,
  NEWEST_CALL,
  NODE_CALLS,
  OLD_OPEN_CALL,
} from './system-calls.js';

/** Which sockets may be made: any, those of a network of one machine, or only such as have nothing to do with networks. */
export type AllowedSockets = 'any' | 'inet' | 'unix';

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const FAIL = 0x00050000;

const { EPERM, ENOSYS } = constants.errno;

/** What the kernel calls each processor, and where the numbers of its other set of system calls begin. */
const PROCESSORS: Readonly<
  Record<Architecture, { readonly name: number; readonly otherCallsFrom: number | undefined }>
> = {
  x64: { name: 0xc000003e, otherCallsFrom: 0x40000000 },
  arm64: { name: 0xc00000b7, otherCallsFrom: undefined },
};

/** CLONE_NEW{TIME,NS,CGROUP,UTS,IPC,USER,PID,NET}; the first has no meaning for `clone`, where it is part of a signal. */
const NEW_NAMESPACES = 0x7e020000;
const NEW_TIME_NAMESPACE = 0x80;

const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

/** S_ISUID and S_ISGID. */
const SET_ID_BITS = 0o6000;
/** The bit that S_IFCHR and S_IFBLK share, and nothing else that can be made. */
const DEVICE_BIT = 0o20000;
/** O_CREAT and the part of O_TMPFILE that is no O_DIRECTORY. Without either the mode means nothing, and may be anything. */
const CREATING_FLAGS = 0o100 | 0o20000000;
const RENAME_WHITEOUT = 4;

const FAMILIES: Readonly<Record<Exclude<AllowedSockets, 'any'>, readonly number[]>> = {
  // AF_UNIX; AF_INET and AF_INET6.
  unix: [1],
  inet: [1, 2, 10],
};

/** Sockets for a program that may use the network, that has a way to a proxy, or neither. */
export function chooseSockets(
  { network }: Pick<ResolvedPolicy, 'network'>,
  { doorway }: Pick<ConfineOptions, 'doorway'>,
): AllowedSockets {
  if (network === 'enabled') return 'any';
  return doorway === undefined ? 'unix' : 'inet';
}

/**
 * Makes the filter of a sandbox. It forbids what could change the sandbox, look into other
 * processes, or reach parts of the kernel that a sandboxed program has no use for. Calls of another processor, which have
 * other numbers and would pass unseen, end the process.
 */
export function buildSeccompFilter(architecture: Architecture, sockets: AllowedSockets): Buffer {
  const { name, otherCallsFrom } = PROCESSORS[architecture];
  const number = (call: JudgedCall): number => JUDGED_CALLS[call][architecture];
  const refuse = finish(FAIL | EPERM);
  const judgeSocket = sockets === 'any' ? [] : allowFamilies(FAMILIES[sockets]);
  return encode([
    load(PROCESSOR),
    ...unlessEqual(name, [finish(KILL_PROCESS)]),
    load(CALL_NUMBER),
    ...(otherCallsFrom === undefined ? [] : whenAtLeast(otherCallsFrom, [finish(KILL_PROCESS)])),
    // Programs take them for calls of a newer kernel than this one.
    ...whenAtLeast(NEWEST_CALL + 1, [finish(FAIL | ENOSYS)]),
    ...FORBIDDEN_CALLS[architecture].flatMap((call) => whenEqual(call, [refuse])),
    // Their flags are in memory, where a filter cannot look; programs take the older call when the newer is not there.
    ...whenEqual(number('clone3'), [finish(FAIL | ENOSYS)]),
    ...whenEqual(number('openat2'), [finish(FAIL | ENOSYS)]),
    ...judgeArgument(number('clone'), 0, whenAnyBit(NEW_NAMESPACES, [refuse])),
    ...judgeArgument(number('unshare'), 0, whenAnyBit(NEW_NAMESPACES | NEW_TIME_NAMESPACE, [refuse])),
    // They put words into the mouth of whoever types at the terminal.
    ...judgeArgument(number('ioctl'), 1, [
      ...whenEqual(TIOCSTI, [refuse]),
      ...whenEqual(TIOCLINUX, [refuse]),
    ]),
    ...judgeArgument(number('socket'), 0, judgeSocket),
    ...judgeArgument(number('socketpair'), 0, judgeSocket),
    ...judgeModes(architecture, refuse),
    finish(ALLOW),
  ]);
}

/**
 * What runs as its owner, or is a device, keeps its power outside of the sandbox. That the sandbox has no privileges keeps
 * nobody from giving such a mode to files of his own.
 */
function judgeModes(architecture: Architecture, refuse: Instruction): Instruction[] {
  const { openat, renameat2 } = JUDGED_CALLS;
  const judgeBits = whenAnyBit(SET_ID_BITS, [refuse]);
  const judgeOpen = (call: number, flags: number) =>
    judgeArgument(call, flags, whenAnyBit(CREATING_FLAGS, [load(argument(flags + 1)), ...judgeBits]));
  return [
    ...judgeOpen(openat[architecture], 2),
    ...(architecture === 'x64' ? judgeOpen(OLD_OPEN_CALL, 1) : []),
    ...MODE_CALLS[architecture].flatMap(({ call, mode }) => judgeArgument(call, mode, judgeBits)),
    ...NODE_CALLS[architecture].flatMap(({ call, mode }) =>
      judgeArgument(call, mode, whenAnyBit(SET_ID_BITS | DEVICE_BIT, [refuse])),
    ),
    // It leaves a device behind, if one without use.
    ...judgeArgument(renameat2[architecture], 4, whenAnyBit(RENAME_WHITEOUT, [refuse])),
  ];
}

/** Steps for one call that look at the low half of an argument; whoever passes them passes. */
function judgeArgument(call: number, index: number, steps: readonly Instruction[]): Instruction[] {
  return steps.length === 0 ? [] : whenEqual(call, [load(argument(index)), ...steps, finish(ALLOW)]);
}

function allowFamilies(families: readonly number[]): Instruction[] {
  return [...families.flatMap((family) => whenEqual(family, [finish(ALLOW)])), finish(FAIL | EPERM)];
}
