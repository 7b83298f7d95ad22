import type { ExecServerError } from './errors.js';

/** Where output came out. A process on a terminal has `pty` alone. */
export type StreamName = 'stdout' | 'stderr' | 'pty';

/** A piece of output, as bytes. */
export interface OutputEvent {
  readonly type: 'output';
  readonly seq: number;
  readonly stream: StreamName;
  /** Shared by all who listen; not to be changed. */
  readonly data: Uint8Array;
}

/** The process has ended. Output that others hold open may still follow. */
export interface ExitedEvent {
  readonly type: 'exited';
  readonly seq: number;
  /** 128+n for signal n. */
  readonly exitCode: number;
  /** Name of the signal that ended it, where the server tells. */
  readonly signal: string | undefined;
  /** The server ended it because its `timeoutMs` had passed. */
  readonly timedOut: boolean;
  /** Whether the sandbox got in its way, where the server tells. */
  readonly sandboxDenied: boolean | undefined;
}

/** The process has ended and its output is complete. Nothing follows. */
export interface ClosedEvent {
  readonly type: 'closed';
  readonly seq: number;
}

/** Events that this client has not seen and that the server no longer has. */
export interface GapEvent {
  readonly type: 'gap';
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** Nothing more can be learned of the process: what became of it is unknown. Nothing follows. */
export interface FailedEvent {
  readonly type: 'failed';
  readonly message: string;
  readonly error: ExecServerError;
}

/** What happens to a process, in the order of `seq`. */
export type ProcessEvent = OutputEvent | ExitedEvent | ClosedEvent | GapEvent | FailedEvent;

/** The process that an event is about. */
export interface EventSubject {
  readonly processId: string;
  /** The session of the process, where that is not the client's own. */
  readonly sessionId: string | undefined;
}

/** An event with the process that it is about, for those who listen to all at once. */
export type RoutedEvent = ProcessEvent & EventSubject;
