import { checkOptions } from '../check-options.js';
import { requireCapability } from '../require-capability.js';
import type { SessionClient } from '../session-client.js';
import { requireWholeNumber } from '../usage.js';
import { attachProcess } from './attach.js';
import { findListedProcess } from './find-process.js';
import { describeProcess, type ListedProcess, type ListOptions, requestList } from './list-processes.js';
import type { ProcessTarget } from './process-target.js';
import type { TerminateOptions, TerminateResult } from './terminate.js';

/** Which process is meant. */
export interface NamedOptions {
  /** The session it belongs to. @default the client's own, or else the one whose process runs, or else the newest */
  readonly sessionId?: string;
  readonly signal?: AbortSignal;
}

/** How long to wait for the end of a process. */
export interface WaitForEndOptions extends NamedOptions {
  /** Return after so many milliseconds, ended or not. @default never */
  readonly timeoutMs?: number;
}

/** The processes of a machine. */
export interface Processes {
  /** Those that run and those whose results are kept, oldest first. */
  list(options?: ListOptions): AsyncIterableIterator<ListedProcess>;
  /** What the server tells of one process. Rejects with `process_unknown` or `process_expired`. */
  get(id: string, options?: NamedOptions): Promise<ListedProcess>;
  /** Waits for the end of a process without reading its output, and returns what the server tells of it then. */
  wait(id: string, options?: WaitForEndOptions): Promise<ListedProcess>;
  /** Ends a process with everything it started, and resolves when it is gone. */
  kill(id: string, options?: NamedOptions & TerminateOptions): Promise<TerminateResult>;
  /** Forgets a process that has ended, with its output, before its time. A spill file stays. */
  remove(id: string, options?: NamedOptions): Promise<void>;
}

export function createProcesses(client: SessionClient): Processes {
  return {
    async *list(options = {}) {
      checkOptions('processes.list', options, ['tags', 'scope', 'signal']);
      const { signal, ...filter } = options;
      yield* (await requestList(client, filter, signal && { signal })).map(describeProcess);
    },
    async get(id, options = {}) {
      checkOptions('processes.get', options, NAMED_OPTIONS);
      const { sessionId, signal } = options;
      return describeProcess(await findListedProcess(client, id, sessionId, signal && { signal }));
    },
    async wait(id, options = {}) {
      checkOptions('processes.wait', options, [...NAMED_OPTIONS, 'timeoutMs']);
      const { sessionId, signal, timeoutMs } = options;
      requireWholeNumber('timeoutMs', timeoutMs);
      await requireCapability(client, 'processWait');
      const found = await findListedProcess(client, id, sessionId, signal && { signal });
      const params = { ...toTarget(client, found), ...(timeoutMs !== undefined && { timeoutMs }) };
      return describeProcess({
        ...found,
        ...(await client.call('process/wait', params, signal && { signal })),
      });
    },
    async kill(id, options = {}) {
      const { sessionId, signal, ...terminateOptions } = options;
      const found = await findListedProcess(client, id, sessionId, signal && { signal });
      const from = found.nextSeq - 1;
      const handle = await attachProcess(client, id, {
        sessionId: found.sessionId,
        from,
        ...(signal && { signal }),
      });
      try {
        return await handle.terminate(terminateOptions);
      } finally {
        handle.detach();
      }
    },
    async remove(id, options = {}) {
      checkOptions('processes.remove', options, NAMED_OPTIONS);
      await requireCapability(client, 'processRemove');
      const { sessionId, signal } = options;
      const found = await findListedProcess(client, id, sessionId, signal && { signal });
      await client.call('process/remove', toTarget(client, found), signal && { signal });
    },
  };
}

const NAMED_OPTIONS = ['sessionId', 'signal'];

function toTarget(
  client: SessionClient,
  { processId, sessionId }: { readonly processId: string; readonly sessionId: string },
): ProcessTarget {
  return { processId, ...(sessionId !== client.sessionId && { sessionId }) };
}
