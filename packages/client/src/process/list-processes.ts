import type { ResultOf } from '@exec-server/protocol';
import { checkOptions } from '../check-options.js';
import { toNativeText } from '../fs/remote-path.js';
import { requireCapability } from '../require-capability.js';
import type { SessionCallOptions, SessionClient } from '../session-client.js';
import type { Outcome } from './outcome.js';
import { toOutcome } from './process-snapshot.js';

/** Which processes to list. */
export interface ListOptions {
  /** Only processes that have all of these tags. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Those of this client's session, or all that its principal may see. @default 'session' */
  readonly scope?: 'session' | 'all';
  readonly signal?: AbortSignal;
}

/** A process as the server tells of it. */
export interface ListedProcess {
  readonly id: string;
  /** The session that started it. */
  readonly sessionId: string;
  /** Process id on the server's host. */
  readonly pid: number;
  /** `exited` while somebody still holds its output open, `closed` after. */
  readonly state: 'running' | 'exited' | 'closed';
  /** How it ended; absent while it runs. */
  readonly outcome: Outcome | undefined;
  /** The server ended it because its `timeoutMs` had passed. */
  readonly timedOut: boolean;
  readonly argv: readonly string[];
  /** Native path on the server's host. */
  readonly cwd: string;
  /** It runs on a terminal. */
  readonly tty: boolean;
  readonly tags: Readonly<Record<string, string>>;
  readonly startedAt: Date;
  /** Number of its newest event. */
  readonly cursor: number;
}

/** The processes of a machine. */
export interface Processes {
  /** Those that run and those that ended a short while ago, oldest first. */
  list(options?: ListOptions): AsyncIterableIterator<ListedProcess>;
}

export function createProcesses(client: SessionClient): Processes {
  return {
    async *list(options = {}) {
      checkOptions('processes.list', options, ['tags', 'scope', 'signal']);
      const { signal, ...filter } = options;
      yield* (await listProcesses(client, filter, signal && { signal })).map(describe);
    },
  };
}

/** The processes in the words of the wire. */
export async function listProcesses(
  client: SessionClient,
  { tags, scope }: Pick<ListOptions, 'tags' | 'scope'>,
  options?: SessionCallOptions,
): Promise<ResultOf<'process/list'>['processes']> {
  await requireCapability(client, 'processTags');
  const params = { ...(tags !== undefined && { tags: { ...tags } }), ...(scope !== undefined && { scope }) };
  return (await client.call('process/list', params, options)).processes;
}

function describe(listed: ResultOf<'process/list'>['processes'][number]): ListedProcess {
  const { processId, sessionId, pid, running, closed, timedOut, argv, cwd, tty, tags, startedAtMs } = listed;
  return {
    id: processId,
    sessionId,
    pid,
    state: running ? 'running' : closed ? 'closed' : 'exited',
    outcome: toOutcome(listed),
    timedOut,
    argv,
    cwd: toNativeText(cwd),
    tty,
    tags,
    startedAt: new Date(startedAtMs),
    cursor: listed.nextSeq - 1,
  };
}
