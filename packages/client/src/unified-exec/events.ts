import type { Outcome } from '../process/outcome.js';

/** Which command an event is about. */
interface CommandSubject {
  /** Id of the call that started the command. */
  readonly callId: string;
  /** By which `writeStdin` names the command; absent where it could not be started. */
  readonly sessionId: number | undefined;
}

/** A command was started, or could not be. */
export interface BeginEvent extends CommandSubject {
  readonly type: 'begin';
  /** Id of the process on the server; absent where it could not be started. */
  readonly processId: string | undefined;
  readonly argv: readonly string[];
  /** Directory on the server's host, as a `file:` URL. */
  readonly cwd: string;
  readonly tty: boolean;
}

/** It wrote something, to stdout or stderr. At most 8192 bytes of UTF-8, and 10 000 of these for each command. */
export interface OutputDeltaEvent extends CommandSubject {
  readonly type: 'output';
  readonly delta: string;
}

/** Input was sent to it, or it was waited for once more. Comes after the wait. */
export interface TerminalInteractionEvent extends CommandSubject {
  readonly type: 'terminalInteraction';
  /** What was written; empty for a call that only waited. */
  readonly stdin: string;
}

/** It has ended, and so has its output, or that is held open by others. */
export interface EndEvent extends CommandSubject {
  readonly type: 'end';
  /** `completed` for exit code 0. */
  readonly status: 'completed' | 'failed';
  readonly outcome: Outcome;
  /** Exit code; -1 where there is none. */
  readonly exitCode: number;
  /** Its whole output, 1 MiB of it at most. */
  readonly aggregatedOutput: string;
  /** From the start to the end, in milliseconds. */
  readonly durationMs: number;
}

/** What happens to the commands of unified exec, for those who show it to people. */
export type UnifiedExecEvent = BeginEvent | OutputDeltaEvent | TerminalInteractionEvent | EndEvent;
