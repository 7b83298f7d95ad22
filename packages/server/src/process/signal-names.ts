import { constants } from 'node:os';
import { SIGNAL_NAMES, type SignalName } from '@exec-server/protocol';

/** Where a number has two names, as SIGIO and SIGPOLL have, the one that clients use goes last and stays. */
const NAMES: ReadonlyMap<number, string> = new Map(
  [
    ...Object.entries(constants.signals),
    ...SIGNAL_NAMES.map((name) => [name, signalNumber(name)] as const),
  ].map(([name, number]) => [number, name]),
);

/** The number of a signal on this system. */
export function signalNumber(name: SignalName): number {
  // Darwin has the signal by its older name only.
  const { SIGPOLL = constants.signals.SIGIO } = constants.signals as Partial<typeof constants.signals>;
  return name === 'SIGPOLL' ? SIGPOLL : constants.signals[name];
}

/** The name of a signal, made up for those that have none. */
export function signalName(number: number): string {
  return NAMES.get(number) ?? `SIG${number}`;
}
