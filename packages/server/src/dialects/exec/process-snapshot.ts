import {
  formatRequestId,
  internalError,
  overloaded,
  type ProcessSnapshotParams,
  type ProcessSnapshotResult,
  type RequestId,
} from '@exec-server/protocol';
import { joinLine, type LinePiece, spareBuffers } from '@exec-server/rpc/node';
import type { HeadAndTail } from '../../output/stream-heads.js';
import type { ManagedProcess } from '../../process/managed-process.js';
import { ScreenLimitError, type Screens } from '../../snapshot/screens.js';
import { EncodedResponse, type HandlerContext, LargeResponse } from '../dialect.js';
import { describeOutcome } from './process-wait.js';
import { findTarget, unknownProcess } from './target.js';

/** Largest screen that is rendered, in characters; each takes a dozen bytes while it is. */
const MAX_SCREEN_CELLS = 1_000_000;

/** Everything of a snapshot but its streams and screen. */
type ProcessState = Omit<ProcessSnapshotResult, 'streams' | 'screen'>;

export async function snapshotProcess(
  params: ProcessSnapshotParams,
  context: HandlerContext,
): Promise<LargeResponse> {
  const { screen = true } = params;
  const process = await findTarget(params, context, 'view');
  if (process === undefined) throw unknownProcess(params, context);
  const streams = process.readStreams();
  // Taken together with the streams, before the screen is rendered, so that all parts are of one moment.
  const state: ProcessState = { ...describeOutcome(process), nextSeq: process.log.nextSeq };
  const rendered =
    screen && canRender(process) ? await takeScreen(context.engine.screens, process, streams) : undefined;
  return new LargeResponse(() => encodeSnapshot(context.requestId, state, streams, rendered));
}

function encodeSnapshot(
  id: RequestId,
  state: ProcessState,
  streams: readonly HeadAndTail[],
  screen: Uint8Array | undefined,
): EncodedResponse {
  const head = `{"id":${formatRequestId(id)},"result":${JSON.stringify(state).slice(0, -1)},"streams":[`;
  const tail: LinePiece[] = screen === undefined ? [']}}\n'] : ['],"screen":', screen, '}}\n'];
  const line = joinLine([head, ...streams.flatMap(encodeStream), ...tail]);
  return new EncodedResponse(line, () => spareBuffers.give(line));
}

/** Base64 never needs escaping, and looking through a mebibyte of it for quotes takes longer than spelling it. */
function encodeStream({ head, tail, ...stream }: HeadAndTail, index: number): LinePiece[] {
  const open = `${index === 0 ? '' : ','}${JSON.stringify(stream).slice(0, -1)}`;
  return [`${open},"head":"`, { base64: head }, '","tail":"', { base64: tail }, '"}'];
}

function canRender({ description, size: { rows, cols } }: ManagedProcess): boolean {
  return description.tty && rows * cols <= MAX_SCREEN_CELLS;
}

/** The JSON of the screen. Throws an {@link RpcError}. */
async function takeScreen(
  screens: Screens,
  process: ManagedProcess,
  streams: readonly HeadAndTail[],
): Promise<Uint8Array> {
  const output = streams.flatMap(({ head, tail, droppedBytes }) =>
    droppedBytes === 0 ? [head, tail] : [tail],
  );
  const exact = streams.every(({ droppedBytes }) => droppedBytes === 0);
  const { rows, cols } = process.size;
  try {
    return await screens.render({ owner: process, seq: process.log.nextSeq }, { output, rows, cols, exact });
  } catch (error) {
    if (error instanceof ScreenLimitError) throw overloaded(error.message);
    throw internalError(
      `failed to render the screen: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
