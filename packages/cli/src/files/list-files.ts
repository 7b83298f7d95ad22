import { writeJson } from '../client/json.js';
import { toPrintable } from '../client/printable.js';
import { type StyleName, styleFor } from '../client/styles.js';
import { type Column, writeTable } from '../client/table.js';
import { withMachine } from '../client/with-machine.js';
import type { CommandIo } from '../command-io.js';
import type { LsFlags } from '../commands/ls.js';
import { forEachPath } from './each-path.js';
import { layOutColumns } from './lay-out-columns.js';
import { toModeText } from './mode-text.js';
import { type ListedFile, readListing } from './read-listing.js';
import { resolveRemotePath } from './resolve-remote-path.js';

/** What stands where something cannot be told. */
const UNKNOWN = '-';

const PERMISSION_BITS = 0o7777;

/** Prints what is in directories of the server's machine. Returns what to exit with. */
export function listFiles(paths: readonly string[], flags: LsFlags, io: CommandIo): Promise<number> {
  return withMachine(flags, io, async ({ machine }) => {
    const options = { all: flags.all === true, details: flags.long === true };
    const listed: ListedFile[] = [];
    let isFirst = true;
    const exitCode = await forEachPath(paths.length === 0 ? [''] : paths, io, async (path) => {
      const files = await readListing(machine, await resolveRemotePath(machine, path), options);
      if (flags.json === true) {
        listed.push(...files);
        return;
      }
      if (paths.length > 1) io.stdout.write(`${isFirst ? '' : '\n'}${toPrintable(path)}:\n`);
      isFirst = false;
      if (files.length === 0) return;
      if (flags.long === true) writeTable(io, COLUMNS, files);
      else writeNames(files, io);
    });
    if (flags.json === true)
      writeJson(
        io,
        listed.map((file) => describe(file, options.details)),
      );
    return exitCode;
  });
}

/** Side by side on a terminal, where a name must not give it orders; elsewhere one on each line, as they are. */
function writeNames(files: readonly ListedFile[], { stdout, env }: CommandIo): void {
  if (stdout.isTTY !== true) {
    stdout.write(files.map(({ name }) => `${name}\n`).join(''));
    return;
  }
  const style = styleFor(stdout, env);
  const cells = files.map((file) => {
    const text = toPrintable(file.name);
    const name = nameStyle(file);
    return { width: text.length, text: name === undefined ? text : style(name, text) };
  });
  stdout.write(layOutColumns(cells, stdout.columns));
}

/** What programs get: every member is there, `null` where there is nothing to tell. */
function describe({ name, path, type, details }: ListedFile, withDetails: boolean) {
  if (!withDetails) return { name, path, type };
  const { stats, target } = details ?? {};
  return {
    name,
    path,
    type,
    size: stats?.size ?? null,
    mode: stats?.mode === undefined ? null : (stats.mode & PERMISSION_BITS).toString(8).padStart(4, '0'),
    modifiedAt: stats?.mtime.toISOString() ?? null,
    target: target ?? null,
  };
}

const COLUMNS: readonly Column<ListedFile>[] = [
  { title: 'MODE', value: ({ type, details }) => toModeText(type, details?.stats.mode) },
  { title: 'SIZE', value: ({ details }) => String(details?.stats.size ?? UNKNOWN), align: 'right' },
  {
    title: 'MODIFIED',
    value: ({ details }) => (details === undefined ? UNKNOWN : toTimeText(details.stats.mtime)),
  },
  {
    title: 'NAME',
    value: ({ name, details }) => (details?.target === undefined ? name : `${name} -> ${details.target}`),
    style: nameStyle,
  },
];

function nameStyle({ type }: ListedFile): StyleName | undefined {
  if (type === 'directory') return 'bold';
  return type === 'file' ? undefined : 'yellow';
}

/** The time here, to the minute: `2026-01-31 09:05`. */
function toTimeText(time: Date): string {
  const pad = (number: number) => String(number).padStart(2, '0');
  const date = [time.getFullYear(), pad(time.getMonth() + 1), pad(time.getDate())].join('-');
  return `${date} ${pad(time.getHours())}:${pad(time.getMinutes())}`;
}
