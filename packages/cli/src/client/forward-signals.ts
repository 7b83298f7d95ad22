import { constants } from 'node:os';
import type { ProcessHandle } from '@exec-server/client';
import type { CommandIo, EndSignal } from '../command-io.js';
import { SIGNAL_EXIT_BASE } from '../exit-codes.js';
import type { WatchedMachine } from './watch-connection.js';

/** Signals within so many milliseconds of each other are one wish, ever more urgent. */
const URGENCY_WINDOW_MS = 2000;

/**
 * Passes signals on to a process. The first is its own: an interrupt to be dealt with as it likes, others to end by. A
 * second that follows soon kills it with everything it started; a third leaves without waiting for that. Without a
 * connection the first leaves. Returns how to stop.
 */
export function forwardSignals(
  handle: Pick<ProcessHandle, 'signal' | 'terminate'>,
  io: Pick<CommandIo, 'onEndSignal' | 'exit' | 'stderr'>,
  connection: Pick<WatchedMachine, 'isLost' | 'leave'>,
): () => void {
  let urgency = 0;
  let lastAtMs = Number.NEGATIVE_INFINITY;
  return io.onEndSignal((signal) => {
    if (connection.isLost) return connection.leave();
    const nowMs = performance.now();
    urgency = nowMs - lastAtMs <= URGENCY_WINDOW_MS ? urgency + 1 : 1;
    lastAtMs = nowMs;
    if (urgency > 2) return io.exit(SIGNAL_EXIT_BASE + constants.signals[signal]);
    if (urgency === 2 && io.stderr.isTTY === true)
      io.stderr.write('\nkilling it; once more to leave at once\n');
    const passing = urgency === 1 ? passOn(handle, signal) : handle.terminate({ graceMs: 0 });
    // A process that has ended, or a connection that is gone, is told by the wait for its end.
    passing.catch(() => {});
  });
}

async function passOn(handle: Pick<ProcessHandle, 'signal' | 'terminate'>, signal: EndSignal): Promise<void> {
  if (signal === 'SIGINT') await handle.signal(signal);
  else await handle.terminate({ signal });
}
