import { constants } from 'node:os';
import { basename } from 'node:path';
import { toPrintable } from '../client/printable.js';
import { withMachine } from '../client/with-machine.js';
import { CommandError } from '../command-error.js';
import type { CommandIo } from '../command-io.js';
import type { CpFlags } from '../commands/cp.js';
import { SIGNAL_EXIT_BASE } from '../exit-codes.js';
import { copyPlace, type Omissions, planCopies, requireRemoteSide } from './copy-places.js';
import { parsePlace } from './place.js';
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
  requireRemoteSide(request);
  await withMachine(flags, io, ({ machine }) =>
    untilInterrupted(io, async (signal) => {
      const omissions: string[] = [];
      for (const copy of await planCopies(machine, request)) {
        const bar = showsProgress(flags, io)
          ? new ProgressBar(io.stderr, basename(copy.source.path))
          : undefined;
        try {
          const left = await copyPlace(machine, copy, {
            signal,
            ...(bar && { onProgress: (progress) => bar.update(progress) }),
          });
          omissions.push(...describeOmissions(left));
        } finally {
          bar?.end();
        }
      }
      for (const line of omissions) io.stderr.write(`${line}\n`);
    }),
  );
}

function showsProgress({ quiet }: CpFlags, { stderr }: CommandIo): boolean {
  return quiet !== true && stderr.isTTY === true;
}

function describeOmissions({ skipped, keptModes }: Omissions): string[] {
  return [
    ...skipped.map((path) => `Not copied, because it is a socket, a FIFO or a device: ${toPrintable(path)}`),
    ...(keptModes ? [] : ['Permissions were not kept: the server cannot tell or set them.']),
  ];
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
