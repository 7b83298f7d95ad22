import { constants } from 'node:os';
import { basename } from 'node:path';
import type { CopySummary } from '@exec-server/client';
import { toPrintable } from '../client/printable.js';
import { withMachine } from '../client/with-machine.js';
import { CommandError } from '../command-error.js';
import type { CommandIo } from '../command-io.js';
import type { CpFlags } from '../commands/cp.js';
import { SIGNAL_EXIT_BASE } from '../exit-codes.js';
import { copyPlace, planCopies } from './copy-places.js';
import { parsePlace, placeText } from './place.js';
import { ProgressBar } from './progress-bar.js';

/** Copies between this machine and the server's, one source after the other. */
export async function copyFiles(
  paths: { readonly sources: readonly string[]; readonly destination: string },
  flags: CpFlags,
  io: CommandIo,
): Promise<void> {
  const request = {
    sources: paths.sources.map(parsePlace),
    destination: parsePlace(paths.destination),
    recursive: flags.recursive === true,
  };
  await untilInterrupted(io, (signal) =>
    withMachine(flags, io, async ({ machine }) => {
      for (const copy of await planCopies(machine, request)) {
        const bar = showsProgress(flags, io)
          ? new ProgressBar(io.stderr, basename(placeText(copy.source)))
          : undefined;
        const onProgress = bar && ((progress: Parameters<typeof bar.update>[0]) => bar.update(progress));
        try {
          const summary = await copyPlace(machine, copy, { signal, ...(onProgress && { onProgress }) });
          bar?.end();
          if (summary !== undefined) tellOmissions(summary, io);
        } catch (error) {
          bar?.end();
          throw error;
        }
      }
    }),
  );
}

function showsProgress({ quiet }: CpFlags, { stderr }: CommandIo): boolean {
  return quiet !== true && stderr.isTTY === true;
}

function tellOmissions({ skipped, keptModes }: CopySummary, io: CommandIo): void {
  for (const path of skipped)
    io.stderr.write(`Not copied, because it is a socket, a FIFO or a device: ${toPrintable(path)}\n`);
  if (!keptModes) io.stderr.write('Permissions were not kept: the server cannot tell or set them.\n');
}

/** Ends what `run` does in an orderly way at the first signal, so that no half files stay, and at once at the second. */
async function untilInterrupted(io: CommandIo, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController();
  const stop = io.onEndSignal((name) => {
    const exitCode = SIGNAL_EXIT_BASE + constants.signals[name];
    if (controller.signal.aborted) io.exit(exitCode);
    controller.abort(
      new CommandError(`interrupted by ${name}; files that were complete have been kept`, { exitCode }),
    );
  });
  try {
    await run(controller.signal);
  } finally {
    stop();
  }
}
