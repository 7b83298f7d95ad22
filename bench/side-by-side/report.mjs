// What a run has found, summarised and printed.
import { floorWords } from './floor.mjs';
import { median, Samples, spread } from './statistics.mjs';
import { FLAT_WITHIN, figures, growthRows } from './targets.mjs';

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
  const growth = summariseGrowth(report);
  printGrowth(growth);
  printVerdict(report, [...rows, ...growth]);
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

/** What grew, as a share of what it was, and why it cannot be less. */
export function summariseGrowth({ growth, floor }) {
  if (growth === undefined) return [];
  return growthRows.map(({ figure, bare }) => {
    const ratio = growth[figure];
    const floorRatio = bare === undefined ? undefined : floor?.[bare];
    const holds = ratio <= FLAT_WITHIN;
    const reason =
      floorRatio > FLAT_WITHIN ? `a floor: \`posix_spawn\` alone: ${short(floorRatio)}` : undefined;
    return { words: figure, ratio, target: `≤ ${FLAT_WITHIN}`, holds, ...(!holds && reason && { reason }) };
  });
}

function printGrowth(rows) {
  if (rows.length === 0) return;
  console.log(`\ngrowth, to be flat within ${FLAT_WITHIN}`);
  for (const { words, ratio, holds } of rows)
    console.log(`  ${words}: ${short(ratio)} ${holds ? 'met' : 'MISSED'}`);
}

function printVerdict({ failures, seconds }, rows) {
  const missed = rows
    .filter(({ holds }) => !holds)
    .map(({ words, transport, ratio, target, reason }) => {
      const where = transport === undefined ? '' : ` (${transport})`;
      const because = reason === undefined ? '' : `; ${reason}`;
      return `${words}${where}: ${short(ratio)}, target ${target}${because}`;
    });
  if (rows.length > 0) console.log(`\n${rows.length - missed.length} of ${rows.length} targets are met.`);
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

function printTable(lines) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  for (const line of lines) {
    const cells = line.map((cell, column) => cell.padEnd(widths[column] + 2));
    console.log(cells.join('').trimEnd());
  }
}

/** A number in three digits or so. */
export function short(value) {
  if (value >= 100) return String(Math.round(value));
  return value.toPrecision(value < 0.1 ? 2 : 3);
}
