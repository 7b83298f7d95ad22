import type { ExitStatus } from '../native/launch.js';

/** The end of a process as the wire tells it. */
export interface ProcessExit {
  readonly status: ExitStatus;
  /** The program's own code, 128 + n after signal n, −1 when it cannot be known. */
  readonly exitCode: number;
  /** Whether the sandbox stopped the process from doing something. */
  readonly sandboxDenied: boolean;
}

export function describeExit(status: ExitStatus): ProcessExit {
  return { status, exitCode: exitCodeOf(status), sandboxDenied: false };
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
