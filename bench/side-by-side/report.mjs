// The table of ratios, the history, and the picture.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { drawHistory } from './draw.mjs';
import { floorWords } from './floor.mjs';
import { median, Samples, spread } from './statistics.mjs';
import { FLAT_WITHIN, figures, growthRows } from './targets.mjs';

const RESULTS = new URL('../results/', import.meta.url);

const sshWords = {
  startMs: ['`ssh host true`, p50, ms', 'sequentialStarts/ms', 0.5],
  echoMs: ['echo over a pty, p50, ms', 'ptyEcho/ms', 0.5],
  mbPerSecond: ['output, MB/s', 'pipeOutput/mbPerSecond'],
};

/** One row a figure and transport: ours, the reference, the ratio, the target, whether it holds, and why it cannot. */
export function summarise({ measured, floor }) {
  const rows = [];
  for (const { workload, figure, words, targets, percentile, bare, bareWords } of figures) {
    for (const [transport, target] of Object.entries(targets)) {
      const ours = readRounds(measured[`ours/${transport}/${workload}/${figure}`], percentile);
      const reference = readRounds(measured[`reference/${transport}/${workload}/${figure}`], percentile);
      if (ours === undefined || reference === undefined) continue;
      const ratio = ours.value / reference.value;
      const row = {
        words,
        transport,
        ours: ours.value,
        reference: reference.value,
        ...(ours.rounds > 1 && { spread: Math.max(ours.spread, reference.spread) }),
        ratio,
        target: target.words,
        holds: target.holds(ratio),
      };
      if (bare !== undefined && floor !== undefined) {
        row.floorRatio = bare(floor, transport) / reference.value;
        if (!row.holds && !target.holds(row.floorRatio))
          row.reason = `a floor: ${bareWords} alone: ${short(row.floorRatio)}`;
      }
      rows.push(row);
    }
  }
  return rows;
}

/** The figure of several rounds: their median, or a percentile of all their samples; and how far they lie apart. */
function readRounds(rounds, percentile) {
  if (rounds === undefined) return undefined;
  if (percentile === undefined)
    return { rounds: rounds.length, value: median(rounds), spread: spread(rounds) };
  return {
    rounds: rounds.length,
    value: Samples.join(rounds).percentile(percentile),
    spread: spread(rounds.map((samples) => samples.percentile(percentile))),
  };
}

export function printReport(report) {
  const rows = summarise(report);
  if (rows.length > 0) printRows(rows);
  printFloor(report);
  printSsh(report);
  const growthMissed = printGrowth(report);
  printVerdict(report, rows, growthMissed);
}

function printRows(rows) {
  const lines = [['', 'transport', 'ours', 'reference', 'spread', 'ratio', 'target', '', 'floor']];
  for (const row of rows)
    lines.push([
      row.words,
      row.transport,
      short(row.ours),
      short(row.reference),
      row.spread === undefined ? '' : `±${Math.round(row.spread * 100)} %`,
      short(row.ratio),
      row.target,
      row.holds ? 'met' : 'MISSED',
      row.floorRatio === undefined ? '' : short(row.floorRatio),
    ]);
  printTable(lines);
}

function printFloor({ floor }) {
  if (floor === undefined) return;
  console.log('\nfloor: the same with nothing in between');
  printTable(Object.entries(floorWords).map(([name, words]) => [`  ${words}`, short(floor[name])]));
}

function printSsh({ ssh, measured }) {
  if (ssh === undefined) return;
  if (ssh.skipped !== undefined) {
    console.log(`\nOpenSSH: skipped, ${ssh.skipped}`);
    return;
  }
  const lines = [['\nOpenSSH, one multiplexed connection', 'ssh', 'ours (ws)']];
  for (const [figure, [words, key, percentile]] of Object.entries(sshWords)) {
    const ours = readRounds(measured[`ours/ws/${key}`], percentile);
    lines.push([`  ${words}`, short(ssh[figure]), ours === undefined ? '' : short(ours.value)]);
  }
  printTable(lines);
}

/** Returns lines about what grew. */
function printGrowth({ growth, floor }) {
  if (growth === undefined) return [];
  console.log(`\ngrowth, to be flat within ${FLAT_WITHIN}`);
  const missed = [];
  for (const { figure, bare } of growthRows) {
    const ratio = growth[figure];
    const holds = ratio <= FLAT_WITHIN;
    console.log(`  ${figure}: ${short(ratio)} ${holds ? 'met' : 'MISSED'}`);
    const floorRatio = bare === undefined ? undefined : floor?.[bare];
    const reason = floorRatio > FLAT_WITHIN ? `; a floor: \`posix_spawn\` alone: ${short(floorRatio)}` : '';
    if (!holds) missed.push(`${figure}: ${short(ratio)}${reason}`);
  }
  return missed;
}

function printVerdict({ failures, seconds, growth }, rows, growthMissed) {
  const missed = rows
    .filter(({ holds }) => !holds)
    .map(({ words, transport, ratio, target, reason }) => {
      const because = reason === undefined ? '' : `; ${reason}`;
      return `${words} (${transport}): ${short(ratio)}, target ${target}${because}`;
    })
    .concat(growthMissed);
  const total = rows.length + (growth === undefined ? 0 : growthRows.length);
  if (total > 0) console.log(`\n${total - missed.length} of ${total} targets are met.`);
  printList('Missed:', missed);
  printList(
    'Not measured:',
    failures.map(({ name, reason }) => `${name}: ${reason}`),
  );
  console.log(`\nIt took ${Math.round(seconds)} s.`);
}

function printList(title, lines) {
  if (lines.length > 0) console.log([`\n${title}`, ...lines].join('\n  '));
}

/** Keeps the run and redraws the picture from all that are kept. */
export async function saveReport(report) {
  await mkdir(RESULTS, { recursive: true });
  const { at, node, quick, seconds, floor, ssh, growth, failures } = report;
  const kept = { at, node, quick, seconds, rows: summarise(report), floor, ssh, growth, failures };
  const name = `${at.slice(0, 16).replaceAll(':', '-')}.json`;
  await writeFile(new URL(name, RESULTS), `${JSON.stringify(kept, null, 2)}\n`);
  const names = (await readdir(RESULTS)).filter((file) => file.endsWith('.json')).toSorted();
  const history = await Promise.all(
    names.map(async (file) => JSON.parse(await readFile(new URL(file, RESULTS), 'utf8'))),
  );
  await writeFile(new URL('ratios.svg', RESULTS), drawHistory(history));
}

function printTable(lines) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  for (const line of lines) {
    const cells = line.map((cell, column) => cell.padEnd(widths[column] + 2));
    console.log(cells.join('').trimEnd());
  }
}

function short(value) {
  if (value >= 100) return String(Math.round(value));
  return value.toPrecision(value < 0.1 ? 2 : 3);
}
