// What stays of a run: its figures, the picture of all runs, and the table in the documentation.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { drawHistory } from './draw.mjs';
import { short, summarise, summariseGrowth } from './report.mjs';

const RESULTS = new URL('../results/', import.meta.url);
const DOCUMENT = new URL('../../docs/performance.md', import.meta.url);
/** Where the table stands in it. */
const TABLE = /(?<=<!-- table of the bench -->\n).*?(?=<!-- end of the table -->)/s;

/** A quick run is kept as well, but is no reason to change what is documented. */
export async function keepReport(report) {
  await mkdir(RESULTS, { recursive: true });
  const { at, node, quick, seconds, floor, ssh, growth, failures } = report;
  const kept = { at, node, quick, seconds, rows: summarise(report), floor, ssh, growth, failures };
  const name = `${at.slice(0, 16).replaceAll(':', '-')}.json`;
  await writeFile(new URL(name, RESULTS), `${JSON.stringify(kept, null, 2)}\n`);
  await drawAll();
  if (!quick) await documentRun(report);
}

async function drawAll() {
  const names = (await readdir(RESULTS)).filter((file) => file.endsWith('.json')).toSorted();
  const history = await Promise.all(
    names.map(async (file) => JSON.parse(await readFile(new URL(file, RESULTS), 'utf8'))),
  );
  await writeFile(new URL('ratios.svg', RESULTS), drawHistory(history));
}

async function documentRun(report) {
  const text = await readFile(DOCUMENT, 'utf8');
  await writeFile(
    DOCUMENT,
    text.replace(TABLE, () => writeTable(report)),
  );
}

function writeTable(report) {
  const rows = [...summarise(report), ...summariseGrowth(report)];
  const met = rows.filter(({ holds }) => holds).length;
  const lines = rows.map(({ words, transport, ours, reference, ratio, target, holds, reason }) => {
    const figures = [ours, reference].map((value) => (value === undefined ? '' : short(value)));
    const verdict = holds ? 'met' : ['**missed**', reason].filter(Boolean).join('; ');
    return `| ${[words, transport ?? '', ...figures, short(ratio), target, verdict].join(' | ')} |`;
  });
  return [
    `${met} of ${rows.length} targets were met with Node ${report.node.slice(1)} on ${report.at.slice(0, 10)}.`,
    '',
    '| work | transport | ours | reference | ratio | target | |',
    '| --- | --- | ---: | ---: | ---: | --- | --- |',
    ...lines,
    '',
  ].join('\n');
}
