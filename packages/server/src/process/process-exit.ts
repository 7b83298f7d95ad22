import type { ExitStatus } from '../native/launch.js';
import { signalName } from './signal-names.js';

/** The end of a process as the wire tells it. */
export interface ProcessExit {
  readonly status: ExitStatus;
  /** The program's own code, 128 + n after signal n, −1 when it cannot be known. */
  readonly exitCode: number;
  /** Name of the signal that ended it. */
  readonly signal: string | null;
  /** Whether it was ended because its time was up. */
  readonly timedOut: boolean;
  /** Whether the sandbox stopped the process from doing something. */
  readonly sandboxDenied: boolean;
}

/** What the kernel does not tell about an end. */
export type ExitCircumstances = Pick<ProcessExit, 'timedOut' | 'sandboxDenied'>;

export function describeExit(status: ExitStatus, circumstances: ExitCircumstances): ProcessExit {
  const signal = status.kind === 'signaled' ? signalName(status.signal) : null;
  return { status, exitCode: exitCodeOf(status), signal, ...circumstances };
}

function exitCodeOf(status: ExitStatus): number {
  switch (status.kind) {
    case 'exited':
      return status.code;
    case 'signaled':
      return 128 + status.signal;
    case 'unknown':
      return -1;
  }
}
