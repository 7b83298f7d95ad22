import { constants } from 'node:os';
import { SIGNAL_NAMES, type SignalName } from '@exec-server/protocol';
import { UsageError } from '../usage-error.js';

/** The signal that `HUP`, `sighup` or `1` mean. */
export function parseSignal(text: string, flags: string): SignalName {
  const upper = text.toUpperCase();
  const found = SIGNAL_NAMES.find(
    (name) => name === upper || name === `SIG${upper}` || String(numberOf(name)) === text,
  );
  if (found !== undefined) return found;
  throw new UsageError(
    `invalid value '${text}' for '${flags}'\n  [possible values: ${SIGNAL_NAMES.map((name) => name.slice(3)).join(', ')}]`,
  );
}

/** Where a number has two names, such as SIGIO and SIGPOLL, the system may know one of them only. */
function numberOf(name: SignalName): number {
  const { SIGPOLL = constants.signals.SIGIO } = constants.signals as Partial<typeof constants.signals>;
  return name === 'SIGPOLL' ? SIGPOLL : constants.signals[name];
}
