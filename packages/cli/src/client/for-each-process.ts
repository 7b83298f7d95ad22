import { writeError } from '../command-error.js';
import type { CommandIo } from '../command-io.js';
import { ExitCode } from '../exit-codes.js';
import { explainError } from './explain-error.js';
import type { OpenMachine } from './with-machine.js';

/** Does something to each of the processes, whatever becomes of the others. Returns what to exit with. */
export async function forEachProcess(
  ids: readonly string[],
  open: OpenMachine,
  io: Pick<CommandIo, 'stderr'>,
  act: (id: string) => Promise<void>,
): Promise<number> {
  const failures = await Promise.all(ids.map((id) => failureOf(() => act(id))));
  for (const failure of failures) if (failure !== undefined) writeError(io, explainError(failure, open.url));
  return failures.every((failure) => failure === undefined) ? ExitCode.success : ExitCode.failure;
}

async function failureOf(act: () => Promise<void>): Promise<unknown> {
  try {
    await act();
    return undefined;
  } catch (error) {
    return error;
  }
}
