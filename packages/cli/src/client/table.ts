import type { CommandIo } from '../command-io.js';
import { toPrintable } from './printable.js';
import { type StyleName, styleFor } from './styles.js';

/** One column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  /** @default 'left' */
  readonly align?: 'left' | 'right';
  readonly style?: (row: Row) => StyleName | undefined;
}

const GAP = '  ';

/** What stands where text was cut off. */
const ELLIPSIS = '…';

/** Writes a table to stdout; on a terminal with colours and no wider than it. */
export function writeTable<Row>(
  io: Pick<CommandIo, 'stdout' | 'env'>,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): void {
  const style = styleFor(io.stdout, io.env);
  const cells = rows.map((row) => columns.map(({ value }) => toPrintable(value(row))));
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((line) => line[index]?.length ?? 0)),
  );
  const lastWidth = lastColumnWidth(widths, io.stdout.columns);
  const layOut = (line: readonly string[], paint: (text: string, index: number) => string) =>
    line
      .map((text, index) => {
        const isLast = index === line.length - 1;
        const width = isLast ? 0 : (widths[index] ?? 0);
        const padding = ' '.repeat(Math.max(0, width - text.length));
        const painted = paint(isLast ? cut(text, lastWidth) : text, index);
        return columns[index]?.align === 'right' ? `${padding}${painted}` : `${painted}${padding}`;
      })
      .join(GAP)
      .trimEnd();
  const titles = columns.map(({ title }) => title);
  const lines = rows.map((row, index) =>
    layOut(cells[index] ?? [], (text, column) => {
      const name = columns[column]?.style?.(row);
      return name === undefined ? text : style(name, text);
    }),
  );
  const header = layOut(titles, (text) => style('bold', text));
  io.stdout.write(`${[header, ...lines].join('\n')}\n`);
}

/** What a terminal of that width leaves for the last column; a pipe leaves everything. */
function lastColumnWidth(widths: readonly number[], available: number | undefined): number {
  if (available === undefined) return Number.POSITIVE_INFINITY;
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  return Math.max(available - before, 1);
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}${ELLIPSIS}`;
}
