import type { ResultOf } from '@exec-server/protocol';
import { toNativeText } from '../fs/remote-path.js';
import { requireCapability } from '../require-capability.js';
import type { SessionCallOptions, SessionClient } from '../session-client.js';
import type { Outcome } from './outcome.js';
import type { SpillFile } from './process-result.js';
import { toOutcome } from './process-snapshot.js';
import { toSpillFile } from './read-spill.js';

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
  /** The file with the whole output, for a process that was started with `output.spill`. */
  readonly spill: SpillFile | undefined;
  /** The server no longer has its output: it made room for that of others that have ended. */
  readonly outputEvicted: boolean;
}

/** The processes in the words of the wire. */
export async function requestList(
  client: SessionClient,
  { tags, scope }: Pick<ListOptions, 'tags' | 'scope'>,
  options?: SessionCallOptions,
): Promise<ResultOf<'process/list'>['processes']> {
  await requireCapability(client, 'processTags');
  const params = { ...(tags !== undefined && { tags: { ...tags } }), ...(scope !== undefined && { scope }) };
  return (await client.call('process/list', params, options)).processes;
}

export function describeProcess(listed: ResultOf<'process/list'>['processes'][number]): ListedProcess {
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
    spill: toSpillFile(listed.spill),
    outputEvicted: listed.outputEvicted ?? false,
  };
}
