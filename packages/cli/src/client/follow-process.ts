import { constants } from 'node:os';
import type { ProcessHandle, ProcessResult } from '@exec-server/client';
import { CommandError } from '../command-error.js';
import type { CommandIo } from '../command-io.js';
import { ExitCode, SIGNAL_EXIT_BASE } from '../exit-codes.js';
import { forwardSignals } from './forward-signals.js';
import { OutputPump, type PumpOptions } from './output-pump.js';
import type { WatchedMachine } from './watch-connection.js';

/** Writes what a process writes and passes signals on to it until `result` is there. Returns what to exit with. */
export async function followProcess(
  handle: ProcessHandle,
  io: CommandIo,
  result: Promise<ProcessResult>,
  connection: WatchedMachine,
  options: PumpOptions = {},
): Promise<number> {
  const pump = new OutputPump(handle, io, options);
  const stopSignals = forwardSignals(handle, io, connection);
  try {
    const endUnread = () => {
      // As a pipe would: nobody reads what it writes. A process that cannot be told has ended, or its connection has.
      if (pump.isUnread) handle.terminate().catch(() => {});
    };
    // What goes wrong with it comes out below.
    pump.finished.then(endUnread, () => {});
    const { outcome, timedOut } = await Promise.race([result, connection.left]);
    await Promise.race([pump.endAfter(handle.cursor), connection.left]);
    if (pump.isUnread) return SIGNAL_EXIT_BASE + constants.signals.SIGPIPE;
    if (timedOut) return ExitCode.timedOut;
    if (outcome.kind !== 'unknown') return outcome.exitCode;
    throw handle.failure ?? new CommandError(outcome.reason);
  } finally {
    stopSignals();
    connection.stop();
  }
}
