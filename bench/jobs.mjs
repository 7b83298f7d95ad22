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

async function spawnAll(url, input) {
  const machine = await connect(url);
  let left = rowCount;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (left-- > 0) {
        const handle = await machine.spawn(COMMAND, input === undefined ? {} : { input });
        await handle.result();
      }
    }),
  );
  const took = performance.now() - startedAt;
  await machine.close();
  return took;
}

async function runRows(root) {
  const rows = Array.from({ length: rowCount }, (_, n) => ({ n }));
  const run = await runJob({ rows, command: COMMAND, concurrency, root });
  const startedAt = performance.now();
  const { process: server } = JSON.parse(await readFile(join(run.directory, 'server.json'), 'utf8'));
  const sizes = [];
  let ended = 0;
  for await (const { type } of run) {
    if (type !== 'completed') continue;
    ended++;
    if (ended % Math.ceil(rowCount / 10) === 0) sizes.push(await Promise.all([process, server].map(measure)));
  }
  const { completed } = await run.result;
  if (completed !== rowCount) throw new Error(`${completed} of ${rowCount} items are completed`);
  return { took: performance.now() - startedAt, sizes };
}

/** Memory of a process in MiB. */
async function measure({ pid }) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

const perItem = (ms) => `${(ms / rowCount).toFixed(3)} ms per item`;
const directory = await mkdtemp(join(tmpdir(), 'bench-jobs-'));
try {
  const server = await startServer({ args: ['--listen', `unix://${join(directory, 'socket')}`] });
  const bare = await spawnAll(server.url);
  const fed = await spawnAll(server.url, '{"n":1}\n');
  await server.stop();
  const { took, sizes } = await runRows(join(directory, 'jobs'));
  console.log(`spawn              ${perItem(bare)}`);
  console.log(`spawn, with input  ${perItem(fed)}`);
  console.log(`job                ${perItem(took)}`);
  console.log(
    `ratio              ${(took / bare).toFixed(2)}, to spawn with input ${(took / fed).toFixed(2)}`,
  );
  for (const [index, name] of ['runner', 'server'].entries())
    console.log(`${name}, MiB at each tenth: ${sizes.map((pair) => pair[index]).join(' ')}`);
} finally {
  await rm(directory, { recursive: true, force: true });
}
