// Plays the same work to this server and to the reference, in turns, and prints ours ÷ reference.
//   npm run bench                      everything, under ten minutes
//   npm run bench -- --quick           fewer rounds and smaller work, under 90 seconds
//   npm run bench -- --only files      one workload; may be repeated
//   npm run bench -- --save            also keep the result in bench/results/ and redraw the picture
import { setMaxListeners } from 'node:events';
import { parseArgs } from 'node:util';
import { measureFloor } from './floor.mjs';
import { measureGrowth } from './growth.mjs';
import { printReport, saveReport } from './report.mjs';
import { listSystems, RunningServer } from './servers.mjs';
import { measureSsh } from './ssh.mjs';
import { figures } from './targets.mjs';
import { freshWorkloads, workloads } from './workloads.mjs';

const { values: args } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    save: { type: 'boolean', default: false },
  },
});

const ROUNDS = args.quick ? 2 : 5;
const SCALE = args.quick ? 0.3 : 1;
/** A server that was just asked something is still tidying up; memory is read after this pause. */
const SETTLE_MS = args.quick ? 400 : 1500;

const settle = () => new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
const wanted = (name) => args.only === undefined || args.only.includes(name);
setMaxListeners(0, process);
const systems = await listSystems();

/** `system/transport/workload/figure` → one value a round */
const measured = {};

function record(system, transport, workload, answer) {
  for (const [figure, value] of Object.entries(answer)) {
    const key = [system, transport, workload, figure].join('/');
    measured[key] ??= [];
    measured[key].push(value);
  }
}

const isPromised = (workload, transport) =>
  figures.some((row) => row.workload === workload && row.targets[transport] !== undefined);

for (const transport of ['ws', 'stdio']) {
  const names = Object.keys(workloads).filter((name) => wanted(name) && isPromised(name, transport));
  if (names.length > 0) await compareRunning(transport, names);
}
if (wanted('binaryPipeOutput')) await compareBinary();
for (const name of Object.keys(freshWorkloads).filter(wanted)) await compareFresh(name);
if (wanted('coldStart')) await compareColdStarts();

const report = {
  at: new Date().toISOString(),
  quick: args.quick,
  node: process.version,
  rounds: ROUNDS,
  measured,
  ...(wanted('floor') && { floor: await measureFloor(SCALE) }),
  ...(wanted('ssh') && { ssh: await measureSsh(SCALE) }),
  ...(wanted('growth') && { growth: await measureGrowth(systems.ours, SCALE) }),
};
printReport(report);
if (args.save) await saveReport(report);

/** One server of each kind stays up; the rounds alternate, so that a slow moment of the machine hits both. */
async function compareRunning(transport, names) {
  const running = {};
  for (const [name, system] of Object.entries(systems))
    running[name] = await RunningServer.start(system, transport);
  try {
    for (const workload of names) {
      process.stderr.write(`${transport} ${workload}\n`);
      for (let round = 0; round < ROUNDS; round++) {
        for (const [name, server] of Object.entries(running))
          record(name, transport, workload, await workloads[workload](server, { scale: SCALE }));
      }
    }
  } finally {
    for (const server of Object.values(running)) await server.stop();
  }
}

/** Ours in binary frames against the reference in the only way it has. */
async function compareBinary() {
  process.stderr.write('ws binaryPipeOutput\n');
  const ours = await RunningServer.start(systems.ours, 'ws', { binaryOutput: true });
  const reference = await RunningServer.start(systems.reference, 'ws');
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, server] of Object.entries({ ours, reference }))
        record(name, 'ws', 'binaryPipeOutput', await workloads.pipeOutput(server, { scale: SCALE }));
    }
  } finally {
    await ours.stop();
    await reference.stop();
  }
}

async function compareFresh(workload) {
  process.stderr.write(`ws ${workload}\n`);
  for (let round = 0; round < Math.min(ROUNDS, 3); round++) {
    for (const [name, system] of Object.entries(systems)) {
      const server = await RunningServer.start(system, 'ws');
      try {
        record(name, 'ws', workload, await freshWorkloads[workload](server, { scale: SCALE, settle }));
      } finally {
        await server.stop();
      }
    }
  }
}

async function compareColdStarts() {
  process.stderr.write('coldStart\n');
  for (const transport of ['ws', 'stdio']) {
    for (let round = 0; round < ROUNDS * 2; round++) {
      for (const [name, system] of Object.entries(systems)) {
        const started = process.hrtime.bigint();
        const server = await RunningServer.start(system, transport);
        record(name, transport, 'coldStart', {
          ms: Number(process.hrtime.bigint() - started) / 1e6,
        });
        await server.stop();
      }
    }
  }
}
