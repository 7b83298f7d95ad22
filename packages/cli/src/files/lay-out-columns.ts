/** Text with the columns that it takes, which are fewer than its characters where it is coloured. */
export interface Cell {
  readonly text: string;
  readonly width: number;
}

const GAP = 2;

/** Width of a terminal that does not tell it. */
const DEFAULT_COLUMNS = 80;

/** Writes short texts side by side, as many as fit, in an order that reads down and then across. */
export function layOutColumns(cells: readonly Cell[], width = DEFAULT_COLUMNS): string {
  const cellWidth = cells.reduce((widest, cell) => Math.max(widest, cell.width), 0) + GAP;
  const perLine = Math.max(1, Math.floor((width + GAP) / cellWidth));
  const lineCount = Math.ceil(cells.length / perLine);
  const lines = Array.from({ length: lineCount }, (_, line) => {
    const inLine = cells.filter((_cell, index) => index % lineCount === line);
    return inLine
      .map((cell, index) =>
        index === inLine.length - 1 ? cell.text : cell.text + ' '.repeat(cellWidth - cell.width),
      )
      .join('');
  });
  return lines.map((line) => `${line}\n`).join('');
}
