import type { MethodName, ParamsOf, ResultOf } from '@exec-server/protocol';
import { ConnectionLostError, ExecServerError } from '../errors.js';
import type { SessionCallOptions, SessionClient } from '../session-client.js';
import { delay } from './abortable.js';
import { isIdTaken, isStillStarting } from './to-exec-server-error.js';

/** Ways to start a process. */
export type StartMethod = 'process/start' | 'process/startPrepared';

/** Beyond the last event of any process, so that a read returns no output. */
const BEYOND_ALL_EVENTS = Number.MAX_SAFE_INTEGER;

/** Wait before a process that is still starting is asked about again, in milliseconds. */
export const STARTING_RETRY_MS = 50;

/**
 * How long servers know a process that has ended, in milliseconds. Until then an id that is unknown is one of a process
 * that was never started; later it may be one that ran and was forgotten.
 */
export const ENDED_PROCESS_KNOWN_MS = 30_000;

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
 * Starts a process at most once, also when the connection is lost before the answer: then the server is asked whether it
 * has the process, and only one that never had it is asked to start it again.
 */
export async function startProcess<M extends StartMethod>(
  host: StartHost,
  method: M,
  params: ParamsOf<M>,
  options: SessionCallOptions,
): Promise<ResultOf<M>> {
  const { processId } = params;
  let mayHaveArrived = false;
  for (;;) {
    const sentAt = performance.now();
    let loss: ConnectionLostError | undefined;
    try {
      return await host.send(method, params, { ...options, resend: false });
    } catch (error) {
      if (error instanceof ConnectionLostError) loss = error;
      else if (!mayHaveArrived || !causedBy(error, isIdTaken)) throw error;
      // The start before this one has arrived after all, behind the question about it; a second time that explains nothing.
      mayHaveArrived = loss !== undefined;
    }
    const started = await findStarted(host, processId, options.signal);
    if (started !== undefined) return started as ResultOf<M>;
    if (loss !== undefined && performance.now() - sentAt >= ENDED_PROCESS_KNOWN_MS)
      throw new ConnectionLostError(`${loss.message}; whether process ${processId} was started is unknown`, {
        cause: loss,
        retryable: false,
      });
  }
}

/** The answer that was lost, as far as it can be known; absent when the server has no such process. */
async function findStarted(
  host: StartHost,
  processId: string,
  signal: AbortSignal | undefined,
): Promise<ResultOf<StartMethod> | undefined> {
  const options = { resend: true, ...(signal && { signal }) };
  if (!(await isKnown(host, processId, options))) return undefined;
  if (!(await host.supports('processTags'))) return { processId };
  const { processes } = await host.send('process/list', {}, options);
  const pid = processes.find((process) => process.processId === processId)?.pid;
  return { processId, ...(pid !== undefined && { pid }) };
}

/** Whether the server has the process, once a start that is under way is over. */
async function isKnown(host: StartHost, processId: string, options: SessionCallOptions): Promise<boolean> {
  for (;;) {
    try {
      await host.send('process/read', { processId, afterSeq: BEYOND_ALL_EVENTS, waitMs: 0 }, options);
      return true;
    } catch (error) {
      if (error instanceof ExecServerError && error.code === 'process_unknown') return false;
      if (!causedBy(error, isStillStarting)) throw error;
    }
    await delay(STARTING_RETRY_MS, options.signal);
  }
}

/** Whether an error of this package stands for one of the server that fits. */
function causedBy(error: unknown, fits: (cause: unknown) => boolean): boolean {
  return error instanceof ExecServerError && fits(error.cause);
}
