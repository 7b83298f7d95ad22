import type { ExitedEvent } from '../process-event.js';

/** How a process ended, as far as that is known. What is not known is never made up. */
export type Outcome =
  | {
      readonly kind: 'exited';
      readonly exitCode: number;
    }
  | {
      readonly kind: 'signaled';
      /** Name of the signal, such as `SIGKILL`. */
      readonly signal: string;
      /** 128+n for signal n. */
      readonly exitCode: number;
    }
  | {
      readonly kind: 'unknown';
      /** Why it is not known. */
      readonly reason: string;
    };

export function outcomeOfExit({ exitCode, signal }: ExitedEvent): Outcome {
  return signal === undefined ? { kind: 'exited', exitCode } : { kind: 'signaled', signal, exitCode };
}

/** The outcome in words that follow the name of the program. */
export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'exited':
      return `exited with code ${outcome.exitCode}`;
    case 'signaled':
      return `was ended by ${outcome.signal}`;
    case 'unknown':
      return `has an unknown outcome: ${outcome.reason}`;
  }
}
