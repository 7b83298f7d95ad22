import type { CollectedOutput } from './collected-output.js';
import type { Outcome } from './outcome.js';

/** Events that were missed for good, so that their output is in no count. */
export interface MissedEvents {
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** The file on the server's host that holds the whole output. */
export interface SpillFile {
  /** Native path on that host. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Output is missing at its end: the server's limit was reached, or writing failed. */
  readonly truncated: boolean;
  /** Nothing more will be written to it. */
  readonly complete: boolean;
  /** Why writing failed. */
  readonly error: string | undefined;
}

/** What became of a process, and what it wrote. */
export interface ProcessResult {
  readonly outcome: Outcome;
  /** Exit code, 128+n for signal n; absent when the outcome is not known. */
  readonly exitCode: number | undefined;
  /** Name of the signal that ended it, where one did and the server tells. */
  readonly signal: string | undefined;
  /** The server ended it because its `timeoutMs` had passed. */
  readonly timedOut: boolean;
  /** Standard output; for a terminal everything it showed. */
  readonly stdout: CollectedOutput;
  readonly stderr: CollectedOutput;
  /** Both in the order in which they came. */
  readonly all: CollectedOutput;
  /** Bytes of stdout and stderr that were not kept; those of `missed` events are not among them. */
  readonly droppedBytes: number;
  /** Events that neither this client nor the server had kept when they were needed. Usually none. */
  readonly missed: readonly MissedEvents[];
  /** The process is gone, but somebody it started holds its output open and may write more. */
  readonly outputOpen: boolean;
  /** Whether the sandbox got in its way, where the server tells. */
  readonly sandboxDenied: boolean | undefined;
  /** From the start to the end as this client saw them, in milliseconds. */
  readonly durationMs: number;
  /** The file with the whole output, for a process that was started with `output.spill`. */
  readonly spill: SpillFile | undefined;
  /** Path of that file. */
  readonly spillPath: string | undefined;
}
