// The table of ratios, the history, and the picture.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { drawHistory } from './draw.mjs';
import { median, spread } from './statistics.mjs';
import { figures } from './targets.mjs';

const RESULTS = new URL('../results/', import.meta.url);
/** Both directions of the flatness that is promised. */
const FLAT_WITHIN = 1.3;

/** One row a figure and transport: ours, the reference, the ratio, the target, whether it holds. */
export function summarise({ measured }) {
  const rows = [];
  for (const { workload, figure, words, targets } of figures) {
    for (const [transport, target] of Object.entries(targets)) {
      const ours = measured[`ours/${transport}/${workload}/${figure}`];
      const reference = measured[`reference/${transport}/${workload}/${figure}`];
      if (ours === undefined || reference === undefined) continue;
      const ratio = median(ours) / median(reference);
      rows.push({
        words,
        transport,
        ours: median(ours),
        reference: median(reference),
        spread: Math.max(spread(ours), spread(reference)),
        ratio,
        target: target.words,
        holds: target.holds(ratio),
      });
    }
  }
  return rows;
}

export function printReport(report) {
  const rows = summarise(report);
  const lines = [['', 'transport', 'ours', 'reference', 'ratio', 'target', '', 'spread']];
  for (const row of rows) {
    const numbers = [row.ours, row.reference, row.ratio].map(short);
    const verdict = row.holds ? 'met' : 'MISSED';
    lines.push([
      row.words,
      row.transport,
      ...numbers,
      row.target,
      verdict,
      `±${Math.round(row.spread * 50)} %`,
    ]);
  }
  printTable(lines);
  for (const title of ['floor', 'ssh']) printPairs(title, report[title], short);
  printPairs(
    `growth (flat within ${FLAT_WITHIN})`,
    report.growth,
    (ratio) => `${short(ratio)} ${ratio <= FLAT_WITHIN ? 'met' : 'MISSED'}`,
  );
  const missed = rows.filter(({ holds }) => !holds);
  console.log(
    missed.length === 0
      ? '\nEvery target is met.'
      : `\n${missed.length} of ${rows.length} targets are missed:\n` +
          missed
            .map(
              ({ words, transport, ratio, target }) =>
                `  ${words} (${transport}): ${short(ratio)}, ${target}`,
            )
            .join('\n'),
  );
}

/** Keeps the run and redraws the picture from all that are kept. */
export async function saveReport(report) {
  await mkdir(RESULTS, { recursive: true });
  const name = `${report.at.slice(0, 16).replaceAll(':', '-')}.json`;
  const kept = { at: report.at, node: report.node, quick: report.quick, rows: summarise(report) };
  for (const extra of ['floor', 'ssh', 'growth'])
    if (report[extra] !== undefined) kept[extra] = report[extra];
  await writeFile(new URL(name, RESULTS), `${JSON.stringify(kept, null, 2)}\n`);
  const names = (await readdir(RESULTS)).filter((file) => file.endsWith('.json')).toSorted();
  const history = await Promise.all(
    names.map(async (file) => JSON.parse(await readFile(new URL(file, RESULTS), 'utf8'))),
  );
  await writeFile(new URL('ratios.svg', RESULTS), drawHistory(history));
}

function printPairs(title, pairs, show) {
  if (pairs === undefined) return;
  console.log(`\n${title}`);
  for (const [name, value] of Object.entries(pairs))
    console.log(`  ${name}: ${typeof value === 'number' ? show(value) : value}`);
}

function printTable(lines) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  for (const line of lines)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    );
}

function short(value) {
  if (value >= 100) return String(Math.round(value));
  return value.toPrecision(value < 0.1 ? 2 : 3);
}
