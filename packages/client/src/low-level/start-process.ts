import type { MethodName, ParamsOf, ResultOf } from '@exec-server/protocol';
import { ConnectionLostError, ExecServerError } from '../errors.js';
import type { SessionCallOptions, SessionClient } from '../session-client.js';

/** Ways to start a process. */
export type StartMethod = 'process/start' | 'process/startPrepared';

/** Beyond the last event of any process, so that a read returns no output. */
const BEYOND_ALL_EVENTS = Number.MAX_SAFE_INTEGER;

/** How starts talk to the server. */
export interface StartHost extends Pick<SessionClient, 'supports'> {
  /** Sends a call as it is; rejects with `ConnectionLostError` when the connection ends before the answer. */
  send<M extends MethodName>(
    method: M,
    params: ParamsOf<M>,
    options: SessionCallOptions,
  ): Promise<ResultOf<M>>;
}

export function isStart(method: MethodName): method is StartMethod {
  return method === 'process/start' || method === 'process/startPrepared';
}

/**
 * Starts a process exactly once, also when the connection is lost before the answer: then the server is asked whether it
 * has the process, and only one that does not is asked to start it again.
 */
export async function startProcess<M extends StartMethod>(
  host: StartHost,
  method: M,
  params: ParamsOf<M>,
  options: SessionCallOptions,
): Promise<ResultOf<M>> {
  for (;;) {
    try {
      return await host.send(method, params, { ...options, resend: false });
    } catch (error) {
      if (!(error instanceof ConnectionLostError)) throw error;
    }
    const started = await findStarted(host, params.processId, options.signal);
    if (started !== undefined) return started as ResultOf<M>;
  }
}

/** The answer that was lost, as far as it can be known; absent when the server has no such process. */
async function findStarted(
  host: StartHost,
  processId: string,
  signal: AbortSignal | undefined,
): Promise<ResultOf<StartMethod> | undefined> {
  const options = { resend: true, ...(signal && { signal }) };
  try {
    await host.send('process/read', { processId, afterSeq: BEYOND_ALL_EVENTS, waitMs: 0 }, options);
  } catch (error) {
    if (error instanceof ExecServerError && error.code === 'process_unknown') return undefined;
    throw error;
  }
  if (!(await host.supports('processTags'))) return { processId };
  const { processes } = await host.send('process/list', {}, options);
  const pid = processes.find((process) => process.processId === processId)?.pid;
  return { processId, ...(pid !== undefined && { pid }) };
}
