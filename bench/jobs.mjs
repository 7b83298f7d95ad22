// What a job costs beyond its commands: `true` for each of many rows, by a job and by bare `spawn` through the SDK, on
// servers of the same kind, as many at once. Arguments: rows (10000), workers at once (16).
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@exec-server/client';
import { runJob } from '@exec-server/jobs';
import { startServer } from '@exec-server/testing';

const [rowCount = 10_000, concurrency = 16] = process.argv.slice(2).map(Number);
const COMMAND = ['true'];

/** Wall and processor time of `work`, of this process and of a server, in milliseconds. */
async function time(server, work) {
  const before = await readCpu(server);
  const startedAt = performance.now();
  await work();
  const wall = performance.now() - startedAt;
  return { wall, cpu: (await readCpu(server)) - before };
}

/** Clock ticks of Linux, in milliseconds. */
const TICK_MS = 10;

async function readCpu(pid) {
  const { user, system } = process.cpuUsage();
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (user + system) / 1000 + (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

async function spawnAll(server, input) {
  const machine = await connect(server.url);
  let left = rowCount;
  const took = await time(server.pid, () =>
    Promise.all(
      Array.from({ length: concurrency }, async () => {
        while (left-- > 0) {
          const handle = await machine.spawn(COMMAND, input === undefined ? {} : { input });
          await handle.result();
        }
      }),
    ),
  );
  await machine.close();
  return took;
}

async function runRows(root) {
  const rows = Array.from({ length: rowCount }, (_, n) => ({ n }));
  const run = await runJob({ rows, command: COMMAND, concurrency, root });
  const { process: server } = JSON.parse(await readFile(join(run.directory, 'server.json'), 'utf8'));
  const sizes = [];
  let ended = 0;
  const took = await time(server.pid, async () => {
    for await (const { type } of run) {
      if (type !== 'completed') continue;
      ended++;
      if (ended % Math.ceil(rowCount / 10) === 0)
        sizes.push(await Promise.all([process, server].map(measure)));
      if (ended === rowCount) break;
    }
  });
  const { completed } = await run.result;
  if (completed !== rowCount) throw new Error(`${completed} of ${rowCount} items are completed`);
  return { took, sizes };
}

/** Memory of a process in MiB. */
async function measure({ pid }) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

const describe = ({ wall, cpu }) =>
  `${(wall / rowCount).toFixed(3)} ms per item, ${(cpu / rowCount).toFixed(3)} ms of processor time`;
const compare = (one, other) =>
  `${(one.wall / other.wall).toFixed(2)}, of processor time ${(one.cpu / other.cpu).toFixed(2)}`;
const directory = await mkdtemp(join(tmpdir(), 'bench-jobs-'));
try {
  const server = await startServer({ args: ['--listen', `unix://${join(directory, 'socket')}`] });
  // Whatever is compiled is compiled by then.
  await spawnAll(server);
  const bare = await spawnAll(server);
  const fed = await spawnAll(server, '{"n":1}\n');
  await server.stop();
  const { took, sizes } = await runRows(join(directory, 'jobs'));
  console.log(`spawn              ${describe(bare)}`);
  console.log(`spawn, with input  ${describe(fed)}`);
  console.log(`job                ${describe(took)}`);
  console.log(`job to spawn             ${compare(took, bare)}`);
  console.log(`job to spawn with input  ${compare(took, fed)}`);
  for (const [index, name] of ['runner', 'server'].entries())
    console.log(`${name}, MiB at each tenth: ${sizes.map((pair) => pair[index]).join(' ')}`);
} finally {
  await rm(directory, { recursive: true, force: true });
}
