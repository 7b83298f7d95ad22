import {
  invalidRequest,
  type ProcessSnapshotParams,
  type ProcessSnapshotResult,
  type ScreenSnapshot,
} from '@exec-server/protocol';
import type { HeadAndTail } from '../../output/stream-heads.js';
import type { ManagedProcess } from '../../process/managed-process.js';
import { renderScreen } from '../../snapshot/render-screen.js';
import type { HandlerContext } from '../dialect.js';
import { describeOutcome } from './process-wait.js';
import { findTarget } from './target.js';

/** Largest screen that is rendered, in characters; each takes a dozen bytes while it is. */
const MAX_SCREEN_CELLS = 1_000_000;

export async function snapshotProcess(
  params: ProcessSnapshotParams,
  context: HandlerContext,
): Promise<ProcessSnapshotResult> {
  const { processId, screen = true } = params;
  const process = await findTarget(params, context, 'view');
  if (process === undefined) throw invalidRequest(`unknown process id ${processId}`);
  const streams = process.readStreams();
  // Taken together with the streams, before the screen is rendered, so that all parts are of one moment.
  const state = { ...describeOutcome(process), nextSeq: process.log.nextSeq };
  return {
    ...state,
    streams: streams.map(({ stream, head, tail, droppedBytes, totalBytes }) => ({
      stream,
      head: head.toString('base64'),
      tail: tail.toString('base64'),
      droppedBytes,
      totalBytes,
    })),
    ...(screen && canRender(process) && { screen: await takeScreen(process, streams) }),
  };
}

function canRender({ description, size: { rows, cols } }: ManagedProcess): boolean {
  return description.tty && rows * cols <= MAX_SCREEN_CELLS;
}

async function takeScreen(process: ManagedProcess, streams: readonly HeadAndTail[]): Promise<ScreenSnapshot> {
  const output = streams.flatMap(({ head, tail, droppedBytes }) =>
    droppedBytes === 0 ? [head, tail] : [tail],
  );
  const { lines, ...screen } = await renderScreen(output, process.size);
  return { ...screen, lines: [...lines], exact: streams.every(({ droppedBytes }) => droppedBytes === 0) };
}
