import type { SignalName } from '@exec-server/protocol';
import { CommandError, writeError } from '../command-error.js';
import type { CommandIo } from '../command-io.js';
import type { KillFlags } from '../commands/kill.js';
import { ExitCode } from '../exit-codes.js';
import { UsageError } from '../usage-error.js';
import { explainError } from './explain-error.js';
import { findProcess } from './find-process.js';
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
  return withMachine(flags, io, async (open) => {
    const failures = await Promise.all(
      ids.map((id) => failureOf(() => killProcess(open, id, signal, flags))),
    );
    for (const failure of failures)
      if (failure !== undefined) writeError(io, explainError(failure, open.url));
    return failures.every((failure) => failure === undefined) ? ExitCode.success : ExitCode.failure;
  });
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

async function failureOf(act: () => Promise<void>): Promise<unknown> {
  try {
    await act();
    return undefined;
  } catch (error) {
    return error;
  }
}
