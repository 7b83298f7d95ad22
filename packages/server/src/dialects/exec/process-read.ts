import type { ProcessReadParams, ProcessReadResult } from '@exec-server/protocol';
import { hasNewsFor, readFromCursor } from '../../output/read-from-cursor.js';
import { waitForNews } from '../../output/wait-for-news.js';
import type { HandlerContext } from '../dialect.js';
import { findTarget, unknownProcess } from './target.js';

export async function readProcess(
  params: ProcessReadParams,
  context: HandlerContext,
): Promise<ProcessReadResult> {
  const { engine, signal, place } = context;
  const process = await findTarget(params, context, 'view');
  if (process === undefined) throw unknownProcess(params, context);
  const cursor = { afterSeq: params.afterSeq ?? 0, maxBytes: params.maxBytes ?? undefined };
  const waitMs = params.waitMs ?? 0;
  if (waitMs > 0 && !hasNewsFor(process, cursor))
    await place.park(waitForNews(process, cursor, { waitMs, clock: engine.clock, signal }));
  const { chunks, nextSeq } = readFromCursor(process, cursor);
  return {
    chunks: chunks.map(({ seq, stream, data }) => ({ seq, stream, chunk: data.toString('base64') })),
    nextSeq,
    exited: process.exit !== undefined,
    exitCode: process.exit?.exitCode ?? null,
    closed: process.closed,
    failure: null,
    sandboxDenied: process.exit?.sandboxDenied ?? false,
    ...(process.exit && { signal: process.exit.signal ?? undefined, timedOut: process.exit.timedOut }),
  };
}
