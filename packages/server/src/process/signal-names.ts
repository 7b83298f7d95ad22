import { constants } from 'node:os';
import type { SignalName } from '@exec-server/protocol';

const NAMES: ReadonlyMap<number, string> = new Map(
  // Where a number has two names, as SIGABRT and SIGIOT have, the first is the one that POSIX knows.
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);

/** The number of a signal on this system. */
export function signalNumber(name: SignalName): number {
  return constants.signals[name];
}

/** The name of a signal, made up for those that have none. */
export function signalName(number: number): string {
  return NAMES.get(number) ?? `SIG${number}`;
}
