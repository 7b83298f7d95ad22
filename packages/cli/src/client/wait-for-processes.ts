import type { ListedProcess } from '@exec-server/client';
import type { CommandIo } from '../command-io.js';
import type { WaitFlags } from '../commands/wait.js';
import { ExitCode } from '../exit-codes.js';
import { findProcess } from './find-process.js';
import { withMachine } from './with-machine.js';

/** Waits until all of the processes have ended. Returns what to exit with: as the last of them did. */
export function waitForProcesses(
  ids: readonly string[],
  flags: WaitFlags,
  io: Pick<CommandIo, 'env'>,
): Promise<number> {
  return withMachine(flags, io, async (open) => {
    const found = await Promise.all(ids.map((id) => findProcess(open, id, flags.session)));
    const options = flags.timeout === undefined ? {} : { timeoutMs: flags.timeout };
    const ended = await Promise.all(
      found.map(({ id, sessionId }) => open.machine.processes.wait(id, { sessionId, ...options })),
    );
    if (ended.some(({ state }) => state === 'running')) return ExitCode.timedOut;
    return exitCodeOf(ended.at(-1));
  });
}

function exitCodeOf(ended: ListedProcess | undefined): number {
  const outcome = ended?.outcome;
  if (outcome === undefined || outcome.kind === 'unknown') return ExitCode.ownFailure;
  return ended?.timedOut === true ? ExitCode.timedOut : outcome.exitCode;
}
