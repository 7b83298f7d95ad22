import type { LaunchPlan } from '../../native/launch.js';
import { listWords, type Word } from './plan.js';

/** A socket that is to be made inside of a sandbox, bound to its loopback address. */
export interface SocketRequest {
  readonly kind: 'stream' | 'datagram';
  readonly port: number;
}

/** The last steps of a plan: into the program. */
export interface EntryRequest {
  readonly plan: LaunchPlan;
  /** Descriptors from this number on do not reach the program. */
  readonly ownDescriptorsFrom: number;
  /** Sockets that the server outside is to get, and the descriptor to hand them over through. @default none */
  readonly handover?: { readonly sockets: readonly SocketRequest[]; readonly doorFd: number } | undefined;
  /** Filters for system calls, all of which count. @default none */
  readonly filters?: readonly Buffer[];
  /** Whether nobody may open its standard streams again by their names in `/proc`. @default false */
  readonly privateStreams?: boolean | undefined;
  /** Whether the program is to lead a session, and have its terminal. @default it does already */
  readonly ownSession?: boolean;
}

/**
 * Hands over sockets of the sandbox, becomes the leader of a session, takes the terminal, changes to the directory, lets
 * go of what is not the program's, and becomes the program.
 */
export function describeEntry({
  plan,
  ownDescriptorsFrom,
  handover,
  filters = [],
  privateStreams = false,
  ownSession = false,
}: EntryRequest): Word[] {
  const { program, argv, env, cwd, stdio } = plan;
  return [
    'entered',
    ...(handover?.sockets ?? []).flatMap(({ kind, port }) => ['socket', kind, port]),
    ...(handover === undefined ? [] : ['hand-over', handover.doorFd]),
    ...(ownSession ? ['session'] : []),
    ...(ownSession && stdio.kind === 'pty' ? ['terminal'] : []),
    ...(privateStreams ? [0, 1, 2] : []).flatMap((fd) => ['mode', fd, 0]),
    'chdir',
    cwd,
    'descriptors',
    ownDescriptorsFrom,
    ...filters.flatMap((filter) => ['seccomp', filter.toString('hex')]),
    'exec',
    program,
    ...listWords(argv),
    ...listWords(Array.from(env, ([name, value]) => `${name}=${value}`)),
  ];
}
