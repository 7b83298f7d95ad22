import { type ListedProcess, quoteWord, type SpillFile } from '@exec-server/client';
import type { CommandIo } from '../command-io.js';
import type { InspectFlags } from '../commands/inspect.js';
import { toByteText } from '../files/byte-text.js';
import { findProcess } from './find-process.js';
import { writeJson } from './json.js';
import { describeForPrograms, describeState } from './list-processes.js';
import { toPrintable } from './printable.js';
import { withMachine } from './with-machine.js';

/** Prints what the server knows of a process. */
export async function inspectProcess(id: string, flags: InspectFlags, io: CommandIo): Promise<void> {
  await withMachine(flags, io, async (open) => {
    const found = await findProcess(open, id, flags.session);
    if (flags.json === true) writeJson(io, describeForPrograms(found));
    else writeLines(io, describe(found));
  });
}

function describe(found: ListedProcess): readonly (readonly [name: string, value: string])[] {
  const { spill, outputEvicted } = found;
  return [
    ['id', found.id],
    ['session', found.sessionId],
    ['pid', String(found.pid)],
    ['state', describeState(found)],
    ['started', found.startedAt.toISOString()],
    ['directory', found.cwd],
    ['command', found.argv.map(quoteWord).join(' ')],
    ['terminal', found.tty ? 'yes' : 'no'],
    ...Object.entries(found.tags).map(([name, value]) => ['tag', `${name}=${value}`] as const),
    ['events', String(found.cursor)],
    ...(outputEvicted ? [['output', 'gone, to make room for that of other processes'] as const] : []),
    ...(spill === undefined ? [] : [['spill', describeSpill(spill)] as const]),
  ];
}

function describeSpill({ path, sizeBytes, truncated, complete, error }: SpillFile): string {
  const notes = [
    toByteText(sizeBytes),
    ...(complete ? [] : ['still written']),
    ...(truncated ? ['its end is missing'] : []),
    ...(error === undefined ? [] : [error]),
  ];
  return `${path} (${notes.join(', ')})`;
}

function writeLines(io: Pick<CommandIo, 'stdout'>, lines: ReturnType<typeof describe>): void {
  const width = Math.max(...lines.map(([name]) => name.length));
  for (const [name, value] of lines) io.stdout.write(`${name.padEnd(width)}  ${toPrintable(value)}\n`);
}
