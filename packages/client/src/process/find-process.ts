import type { ResultOf } from '@exec-server/protocol';
import { ExecServerError } from '../errors.js';
import type { SessionCallOptions, SessionClient } from '../session-client.js';
import { requestList } from './list-processes.js';

type WireProcess = ResultOf<'process/list'>['processes'][number];

/**
 * The process of that name in the words of the wire: of the given session, or else of the client's own, or else the one
 * that runs, or else the newest. Rejects with `process_unknown`, or `process_expired` for one that the server has
 * forgotten.
 */
export async function findListedProcess(
  client: SessionClient,
  processId: string,
  sessionId: string | undefined,
  options?: SessionCallOptions,
): Promise<WireProcess> {
  await client.ready(options?.signal);
  const ownSessionId = client.sessionId ?? '';
  const scope = sessionId === ownSessionId ? 'session' : 'all';
  const named = (await requestList(client, { scope }, options)).filter(
    (candidate) =>
      candidate.processId === processId && (sessionId === undefined || candidate.sessionId === sessionId),
  );
  const own = named.find((candidate) => candidate.sessionId === ownSessionId);
  const running = named.filter((candidate) => candidate.running);
  if (own === undefined && running.length > 1)
    throw new ExecServerError(
      'usage',
      `several sessions have a running process ${processId}; say which by \`sessionId\``,
    );
  const found = own ?? running[0] ?? named.at(-1);
  if (found !== undefined) return found;
  // The server knows whether there was one.
  await client.call('process/read', { processId, afterSeq: Number.MAX_SAFE_INTEGER }, options);
  throw new ExecServerError('process_unknown', `unknown process id ${processId}`);
}
