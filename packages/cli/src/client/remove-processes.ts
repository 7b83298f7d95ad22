import { CommandError } from '../command-error.js';
import type { CommandIo } from '../command-io.js';
import type { RmFlags } from '../commands/rm.js';
import { findProcess } from './find-process.js';
import { forEachProcess } from './for-each-process.js';
import { type OpenMachine, withMachine } from './with-machine.js';

/** Has the server forget each of the processes, whatever becomes of the others. Returns what to exit with. */
export function removeProcesses(ids: readonly string[], flags: RmFlags, io: CommandIo): Promise<number> {
  return withMachine(flags, io, (open) =>
    forEachProcess(ids, open, io, (id) => removeProcess(open, id, flags)),
  );
}

async function removeProcess(open: OpenMachine, id: string, { session, force }: RmFlags): Promise<void> {
  const { id: processId, sessionId, state } = await findProcess(open, id, session);
  const { processes } = open.machine;
  if (state !== 'closed') {
    if (force !== true)
      throw new CommandError(
        `process ${processId} ${state === 'running' ? 'runs' : 'still has output open'}`,
        {
          hint: 'Give --force to end it first.',
        },
      );
    await processes.kill(processId, { sessionId });
  }
  await processes.remove(processId, { sessionId });
}
