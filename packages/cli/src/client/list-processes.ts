import { type ListedProcess, quoteWord } from '@exec-server/client';
import type { CommandIo } from '../command-io.js';
import type { PsFlags } from '../commands/ps.js';
import { toDurationText } from './duration-text.js';
import { writeJson } from './json.js';
import { writeId } from './printable.js';
import type { StyleName } from './styles.js';
import { type Column, writeTable } from './table.js';
import { withMachine } from './with-machine.js';

/** Prints the processes of the server. */
export async function listProcesses(flags: PsFlags, io: CommandIo): Promise<void> {
  await withMachine(flags, io, async ({ machine, url }) => {
    const listed: ListedProcess[] = [];
    const filter = { scope: 'all', ...(flags.tag !== undefined && { tags: flags.tag }) } as const;
    for await (const process of machine.processes.list(filter)) {
      if (flags.all === true || process.state === 'running') listed.push(process);
    }
    if (flags.json === true) writeJson(io, listed.map(describeForPrograms));
    else if (flags.quiet === true) for (const { id } of listed) writeId(io, id);
    else {
      writeTable(io, columns(Date.now()), listed);
      if (url === undefined)
        io.stderr.write(
          'No server was named; give --connect URL or set EXEC_SERVER_URL to see its processes.\n',
        );
    }
  });
}

/** What programs get: every member is there, `null` where there is nothing to tell. */
export function describeForPrograms({ outcome, spill, ...listed }: ListedProcess) {
  return {
    ...listed,
    spill: spill === undefined ? null : { ...spill, error: spill.error ?? null },
    exitCode: outcome === undefined || outcome.kind === 'unknown' ? null : outcome.exitCode,
    signal: outcome?.kind === 'signaled' ? outcome.signal : null,
  };
}

function columns(nowMs: number): Column<ListedProcess>[] {
  return [
    { title: 'ID', value: ({ id }) => id },
    { title: 'PID', value: ({ pid }) => String(pid), align: 'right' },
    { title: 'STATE', value: describeState, style: stateStyle },
    { title: 'AGE', value: ({ startedAt }) => toDurationText(nowMs - startedAt.getTime()), align: 'right' },
    { title: 'TTY', value: ({ tty }) => (tty ? 'yes' : 'no') },
    {
      title: 'TAGS',
      value: ({ tags }) =>
        Object.entries(tags)
          .map((pair) => pair.join('='))
          .join(',') || '-',
    },
    { title: 'COMMAND', value: ({ argv }) => argv.map(quoteWord).join(' ') },
  ];
}

export function describeState({ state, outcome, timedOut }: ListedProcess): string {
  if (state === 'running' || outcome === undefined) return state;
  if (timedOut) return 'timed out';
  if (outcome.kind === 'signaled') return outcome.signal;
  return outcome.kind === 'exited' ? `exited ${outcome.exitCode}` : 'unknown';
}

function stateStyle({ state, outcome }: ListedProcess): StyleName {
  if (state === 'running') return 'green';
  return outcome?.kind === 'exited' && outcome.exitCode === 0 ? 'dim' : 'red';
}
