import type { SignalName } from '@exec-server/protocol';
import { CommandError } from '../command-error.js';
import type { CommandIo } from '../command-io.js';
import type { KillFlags } from '../commands/kill.js';
import { UsageError } from '../usage-error.js';
import { findProcess } from './find-process.js';
import { forEachProcess } from './for-each-process.js';
import { parseSignal } from './signal-name.js';
import { type OpenMachine, withMachine } from './with-machine.js';

/** Ends or signals each of the processes, whatever becomes of the others. Returns what to exit with. */
export async function killProcesses(
  ids: readonly string[],
  flags: KillFlags,
  io: CommandIo,
): Promise<number> {
  const signal = flags.signal === undefined ? undefined : parseSignal(flags.signal, '-s, --signal <NAME>');
  if (signal !== undefined && flags.grace !== undefined)
    throw new UsageError(
      "the argument '--signal' only sends a signal; '--grace' cannot be used with it",
      true,
    );
  return withMachine(flags, io, (open) =>
    forEachProcess(ids, open, io, (id) => killProcess(open, id, signal, flags)),
  );
}

async function killProcess(
  open: OpenMachine,
  id: string,
  signal: SignalName | undefined,
  { session, grace }: KillFlags,
): Promise<void> {
  const { id: processId, sessionId, cursor, state } = await findProcess(open, id, session);
  if (state !== 'running') throw new CommandError(`process ${processId} has already ended`);
  const handle = await open.machine.attach(processId, { sessionId, from: cursor });
  try {
    if (signal === undefined) await handle.terminate(grace === undefined ? {} : { graceMs: grace });
    else await handle.signal(signal);
  } finally {
    handle.detach();
  }
}
