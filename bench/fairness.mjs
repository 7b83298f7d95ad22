// The longest that one client waits for an answer while another loads the server, ours beside the reference in one run.
//   node bench/fairness.mjs                   every load, three rounds each
//   node bench/fairness.mjs --only snapshots  loads with this in their names; may be repeated
//   node bench/fairness.mjs --list            their names
//   node bench/fairness.mjs --rounds 1        fewer rounds
//   node bench/fairness.mjs --ours            without the reference
//   node bench/fairness.mjs --save            puts the table into docs/performance.md
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loads } from './fairness/loads.mjs';
import { makeDirectory, ownChild, removeDirectory, removeOrphanedHomes } from './side-by-side/leftovers.mjs';
import { measureSeconds } from './side-by-side/measure.mjs';
import { Parts } from './side-by-side/parts.mjs';
import { listSystems, RunningServer } from './side-by-side/servers.mjs';
import { median } from './side-by-side/statistics.mjs';

const BYSTANDER = fileURLToPath(new URL('fairness/bystander.mjs', import.meta.url));
const DOCUMENT = new URL('../docs/performance.md', import.meta.url);
/** Where the table stands in it. */
const TABLE = /(?<=<!-- table of fairness -->\n).*?(?=<!-- end of the table of fairness -->)/s;
/** What the load leaves to be done is measured with it. */
const AFTERMATH_MS = 400;
/** A load that takes longer is measured for so long. */
const LOAD_LIMIT_MS = 30_000;
/** The longest wait that is allowed, or as many times the reference's. */
const ALLOWED_MS = 20;
const ALLOWED_RATIO = 2;
const RUN_LIMIT_MS = 1_800_000;

const { values: args } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    list: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    ours: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
  },
});
const wanted = loads.filter(({ name }) => args.only?.some((part) => name.includes(part)) ?? true);
if (args.list || wanted.length === 0) {
  console.log(loads.map(({ name }) => name).join('\n'));
  process.exit(args.list ? 0 : 2);
}

removeOrphanedHomes();
const systems = await listSystems();
if (args.ours) delete systems.reference;
const parts = new Parts(RUN_LIMIT_MS, () => RunningServer.stopAll());
const rows = [];
for (const load of wanted) {
  const measured = await parts.run(load.name, () => compare(load));
  if (measured === undefined) continue;
  rows.push(describeRow(load, measured));
  console.log(JSON.stringify(rows.at(-1)));
}
const table = writeTable(rows);
console.log(table);
if (args.save) {
  const text = await readFile(DOCUMENT, 'utf8');
  await writeFile(
    DOCUMENT,
    text.replace(TABLE, () => table),
  );
}
process.exit(parts.failures.length === 0 ? 0 : 1);

/** The worst ping of each round, and the seconds of the load, by system. */
async function compare(load) {
  const measured = {};
  for (let round = 0; round < Number(args.rounds); round++) {
    const names = Object.keys(systems).filter((name) => name === 'ours' || !load.onlyOurs);
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      parts.note(`${name}, round ${round + 1}`);
      measured[name] ??= { worst: [], seconds: [] };
      const { worst, seconds } = await measure(name, load);
      measured[name].worst.push(worst);
      measured[name].seconds.push(seconds);
    }
  }
  return measured;
}

async function measure(name, { options = [], prepare, run }) {
  const { argv } = systems[name];
  const directory = makeDirectory('fairness');
  const server = await RunningServer.start({ argv: name === 'ours' ? [...argv, ...options] : argv }, 'ws');
  const bystander = ownChild(fork(BYSTANDER, [server.url]));
  try {
    await once(bystander, 'message');
    const prepared = await prepare?.(server, directory);
    await pause(AFTERMATH_MS);
    bystander.send('begin');
    const seconds = await measureLoad(() => run(server, prepared));
    await pause(AFTERMATH_MS);
    bystander.send('end');
    const [times] = await once(bystander, 'message');
    return { worst: Math.max(...times), seconds };
  } finally {
    bystander.kill();
    await server.stop();
    removeDirectory(directory);
  }
}

/** The seconds that a load takes, or undefined for one that is not over within the limit. */
async function measureLoad(work) {
  let isOver = false;
  // A server that refuses the load is done with it, too.
  const over = Promise.resolve(work())
    .catch(() => {})
    .then(() => {
      isOver = true;
    });
  const seconds = await measureSeconds(() => Promise.race([over, pause(LOAD_LIMIT_MS)]));
  return isOver ? seconds : undefined;
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function describeRow({ name, rate }, { ours, reference }) {
  const [own, other] = [ours, reference].map((system) => system && median(system.worst));
  const allowed = Math.max(ALLOWED_MS, ALLOWED_RATIO * (other ?? 0));
  const speed = ({ seconds }) => {
    if (seconds.includes(undefined)) return undefined;
    return rate === undefined ? 1000 * median(seconds) : rate / median(seconds);
  };
  return {
    name: rate === undefined ? name : `${name} (per second)`,
    own,
    ownMost: Math.max(...ours.worst),
    other,
    holds: own <= allowed,
    ownSpeed: speed(ours),
    otherSpeed: reference && speed(reference),
  };
}

function writeTable(all) {
  const short = (value) =>
    value === undefined ? '–' : value.toLocaleString('en', { maximumSignificantDigits: 3 });
  const lines = all.map(({ name, own, ownMost, other, holds, ownSpeed, otherSpeed }) => {
    const cells = [own, ownMost, other].map(short);
    return `| ${[name, ...cells, holds ? 'met' : '**missed**', short(ownSpeed), short(otherSpeed)].join(' | ')} |`;
  });
  return [
    `${all.filter(({ holds }) => holds).length} of ${all.length} were met with Node ${process.version.slice(1)} on ${new Date().toISOString().slice(0, 10)}.`,
    '',
    '| load | worst ping, ms | of all rounds | reference | | load, ms | reference |',
    '| --- | ---: | ---: | ---: | --- | ---: | ---: |',
    ...lines,
    '',
  ].join('\n');
}
