// Plays the same work to this server and to the reference, in turns, and prints ours ÷ reference.
//   npm run bench                      everything, under ten minutes
//   npm run bench -- --quick           fewer rounds and smaller work, under 90 seconds
//   npm run bench -- --only files      one workload; may be repeated
//   npm run bench -- --save            also keep the result in bench/results/, the picture and docs/performance.md
import { parseArgs } from 'node:util';
import { measureFloor } from './floor.mjs';
import { freshWorkloads } from './fresh-workloads.mjs';
import { measureGrowth } from './growth.mjs';
import { keepReport } from './keep.mjs';
import { removeOrphanedHomes } from './leftovers.mjs';
import { measureSeconds } from './measure.mjs';
import { Parts } from './parts.mjs';
import { printReport } from './report.mjs';
import { listSystems, RunningServer } from './servers.mjs';
import { measureSsh } from './ssh.mjs';
import { figures } from './targets.mjs';
import { workloads } from './workloads.mjs';

/**
 * `scale` is how much work a round has; `settleMs` how long a server that was just asked something may tidy up before its
 * memory is read; `runLimitMs` when the run gives up, far beyond what it takes.
 */
const QUICK = { rounds: 3, freshRounds: 1, coldStarts: 8, scale: 0.15, settleMs: 300, runLimitMs: 240_000 };
const WHOLE = { rounds: 3, freshRounds: 3, coldStarts: 20, scale: 1, settleMs: 1500, runLimitMs: 1_200_000 };
/** How much of a round's work is done before the first, unrecorded: servers live long, and code gets faster with use. */
const WARM_UP_SHARE = 0.3;
/** What takes long by itself has fewer rounds in a quick run. */
const QUICK_ROUNDS = { manyProcesses: 1, sandboxedStarts: 2, sandboxedMetadata: 2 };

const EXTRAS = ['floor', 'ssh', 'growth'];
const NAMES = new Set([...figures.map(({ workload }) => workload), ...EXTRAS]);

const { values: args } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    save: { type: 'boolean', default: false },
  },
});
for (const name of args.only ?? [])
  if (!NAMES.has(name)) {
    console.error(`There is no ${name}. There are: ${[...NAMES].join(', ')}`);
    process.exit(2);
  }

const plan = args.quick ? QUICK : WHOLE;
const { scale } = plan;
const settle = () => new Promise((resolve) => setTimeout(resolve, plan.settleMs));
const isWanted = (name) => args.only === undefined || args.only.includes(name);

removeOrphanedHomes();
const systems = await listSystems();
/** `system/transport/workload/figure` → one value a round */
const measured = {};
const parts = new Parts(plan.runLimitMs, () => RunningServer.stopAll());

for (const transport of ['ws', 'stdio']) {
  const names = Object.keys(workloads).filter((name) => isWanted(name) && isPromised(name, transport));
  await compareRunning(transport, names);
}
if (isWanted('binaryPipeOutput')) await parts.run('ws binaryPipeOutput', compareBinary);
for (const name of Object.keys(freshWorkloads).filter(isWanted))
  await parts.run(`ws ${name}`, () => compareFresh(name));
if (isWanted('coldStart')) await parts.run('coldStart', compareColdStarts);

const extras = {
  floor: () => measureFloor(scale, settle),
  ssh: () => measureSsh(scale),
  growth: () => measureGrowth(systems.ours, scale),
};
const report = { at: new Date().toISOString(), quick: args.quick, node: process.version, measured };
for (const [name, measure] of Object.entries(extras))
  if (isWanted(name)) report[name] = await parts.run(name, measure);
report.seconds = parts.elapsedMs / 1000;
report.failures = parts.failures;
printReport(report);
if (args.save) await keepReport(report);
// What a part that was given up left waiting must not keep the run from ending.
process.exit(report.failures.length === 0 ? 0 : 1);

function isPromised(workload, transport) {
  return figures.some((row) => row.workload === workload && row.targets[transport] !== undefined);
}

function record(system, transport, workload, answer) {
  for (const [figure, value] of Object.entries(answer)) {
    const key = [system, transport, workload, figure].join('/');
    measured[key] ??= [];
    measured[key].push(value);
  }
}

/**
 * Asks each system once a round, in turns and with the first one changing, so that a slow moment of the machine hits
 * both and neither always goes first.
 */
async function takeTurns(rounds, transport, workload, measure) {
  const answers = [];
  for (let round = 0; round < rounds; round++) {
    const names = Object.keys(systems);
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      parts.note(`${name}, round ${round + 1}`);
      answers.push([name, await measure(name)]);
    }
  }
  // All or nothing: a workload that got stuck half-way has no figures.
  for (const [name, answer] of answers) record(name, transport, workload, answer);
}

/** One server of each kind stays up for all workloads, unless one of them gets stuck. */
async function compareRunning(transport, workloadNames) {
  let running;
  for (const workload of workloadNames) {
    await parts.run(`${transport} ${workload}`, async () => {
      const servers = running ?? (await startAll(transport));
      running = undefined;
      await compareWarm(servers, transport, workload, workloads[workload]);
      running = servers;
    });
  }
  await RunningServer.stopAll();
}

async function startAll(transport, initialize = {}) {
  const servers = {};
  for (const [name, system] of Object.entries(systems))
    servers[name] = await RunningServer.start(system, transport, initialize[name]);
  return servers;
}

async function compareWarm(servers, transport, workload, work) {
  for (const [name, server] of Object.entries(servers)) {
    parts.note(`${name}, warming up`);
    await work(server, { scale: scale * WARM_UP_SHARE, warmUp: true });
  }
  const rounds = (args.quick ? QUICK_ROUNDS[workload] : undefined) ?? plan.rounds;
  await takeTurns(rounds, transport, workload, (name) => work(servers[name], { scale }));
}

/** Ours in binary frames against the reference in the only way it has. */
async function compareBinary() {
  const servers = await startAll('ws', { ours: { binaryOutput: true } });
  await compareWarm(servers, 'ws', 'binaryPipeOutput', workloads.pipeOutput);
  await RunningServer.stopAll();
}

async function compareFresh(workload) {
  await takeTurns(plan.freshRounds, 'ws', workload, async (name) => {
    const server = await RunningServer.start(systems[name], 'ws');
    const answer = await freshWorkloads[workload](server, { settle });
    await server.stop();
    return answer;
  });
}

async function compareColdStarts() {
  for (const transport of ['ws', 'stdio'])
    await takeTurns(plan.coldStarts, transport, 'coldStart', async (name) => {
      let server;
      const seconds = await measureSeconds(async () => {
        server = await RunningServer.start(systems[name], transport);
      });
      await server.stop();
      return { ms: 1000 * seconds };
    });
}
