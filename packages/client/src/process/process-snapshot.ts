import { decodeBase64, type ResultOf } from '@exec-server/protocol';
import { requireCapability } from '../require-capability.js';
import type { SessionClient } from '../session-client.js';
import { CollectedOutput } from './collected-output.js';
import type { Outcome } from './outcome.js';
import type { ProcessTarget } from './process-target.js';

/** What the server has of a process at one moment. */
export interface ProcessSnapshot {
  /** How it ended; absent while it runs. */
  readonly outcome: Outcome | undefined;
  /** Number of the newest event that is in it; `events({ from })` goes on behind it. */
  readonly cursor: number;
  /**
   * Standard output as far as the server has it, with its beginning and its end; of a terminal everything it was sent.
   * Its text tells how much is missing between them.
   */
  readonly stdout: CollectedOutput;
  readonly stderr: CollectedOutput;
}

/** A snapshot with the screen of the terminal. */
export interface TerminalSnapshot extends ProcessSnapshot {
  readonly rows: number;
  readonly cols: number;
  /** Row of the cursor, from 0. */
  readonly cursorRow: number;
  /** Column of the cursor, from 0. */
  readonly cursorCol: number;
  /** The text of every row, without trailing spaces. */
  readonly lines: readonly string[];
  /** Paints the screen on an empty terminal of that size. It asks the terminal nothing, so that it answers nothing. */
  readonly ansi: string;
  /** Nothing was dropped before it, so that it is what the terminal shows. */
  readonly exact: boolean;
}

type WireSnapshot = ResultOf<'process/snapshot'>;

export async function takeSnapshot(client: SessionClient, target: ProcessTarget): Promise<ProcessSnapshot> {
  return toSnapshot(await callSnapshot(client, target, false));
}

/** Absent for a terminal that is too large for the server to paint. */
export async function takeTerminalSnapshot(
  client: SessionClient,
  target: ProcessTarget,
): Promise<TerminalSnapshot | undefined> {
  const snapshot = await callSnapshot(client, target, true);
  const { screen } = snapshot;
  return screen === undefined || screen === null ? undefined : { ...toSnapshot(snapshot), ...screen };
}

async function callSnapshot(
  client: SessionClient,
  target: ProcessTarget,
  screen: boolean,
): Promise<WireSnapshot> {
  await requireCapability(client, 'processSnapshot');
  return client.call('process/snapshot', { ...target, screen });
}

function toSnapshot(snapshot: WireSnapshot): ProcessSnapshot {
  const find = (...names: string[]) => snapshot.streams.find(({ stream }) => names.includes(stream));
  return {
    outcome: toOutcome(snapshot),
    cursor: snapshot.nextSeq - 1,
    stdout: toOutput(find('stdout', 'pty')),
    stderr: toOutput(find('stderr')),
  };
}

/** The outcome of a process as the server describes it. */
export function toOutcome({
  exitCode,
  signal,
}: Pick<WireSnapshot, 'exitCode' | 'signal'>): Outcome | undefined {
  if (exitCode === null) return undefined;
  return signal === null ? { kind: 'exited', exitCode } : { kind: 'signaled', signal, exitCode };
}

function toOutput(stream: WireSnapshot['streams'][number] | undefined): CollectedOutput {
  const { head = '', tail = '', totalBytes = 0 } = stream ?? {};
  const kept = { head: decodeBase64(head), tail: decodeBase64(tail), totalBytes };
  // A snapshot never promises all of it.
  return new CollectedOutput(kept, { truncate: 'middle', name: 'the snapshot' });
}
