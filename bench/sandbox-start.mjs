// Compares what confines programs: from the start to the end of a sandboxed `true`, and the memory of those who wait for a
// program while it runs. Run after the build:
//   node bench/sandbox-start.mjs
import { readFileSync } from 'node:fs';
import { createExecServer, describeBackends } from '@exec-server/server';
import { openInProcessWire } from '@exec-server/testing';

const ROUNDS = 7;
const STARTS_PER_ROUND = 40;

const READ_ONLY = {
  permissions: {
    type: 'managed',
    network: 'restricted',
    file_system: {
      type: 'restricted',
      entries: [{ path: { type: 'special', value: { kind: 'root' } }, access: 'read' }],
    },
  },
  windowsSandboxLevel: 'disabled',
};

let started = 0;

async function open(sandboxBackend) {
  const server = createExecServer({ sandboxBackend });
  const wire = openInProcessWire(server);
  await wire.request('initialize', { clientName: 'bench' });
  wire.send({ method: 'initialized' });
  return { server, wire };
}

function startParams(argv, sandbox) {
  return { processId: `p${++started}`, argv, cwd: 'file:///', env: {}, tty: false, sandbox };
}

/** Milliseconds from the request to the last word about the process. */
async function timeStart(wire, sandbox) {
  const params = startParams(['/bin/true'], sandbox);
  const begin = process.hrtime.bigint();
  const { error } = await wire.request('process/start', params);
  if (error !== undefined) throw new Error(error.message);
  await wire.next(
    (message) => message.method === 'process/closed' && message.params.processId === params.processId,
    'the end',
  );
  return Number(process.hrtime.bigint() - begin) / 1e6;
}

/** Kilobytes of memory, shared pages by their share, of the processes between the server and the program while it runs. */
async function measureKeepers(wire, sandbox) {
  const params = startParams(['/bin/sleep', '1000'], sandbox);
  const { result } = await wire.request('process/start', params);
  const keepers = [];
  for (let pid = readParent(result.pid); pid !== process.pid && pid > 1; pid = readParent(pid))
    keepers.push(pid);
  const kilobytes = keepers.map(readKilobytes).reduce((sum, each) => sum + each, 0);
  await wire.request('process/terminate', { processId: params.processId });
  return { count: keepers.length, kilobytes };
}

function readParent(pid) {
  return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
}

function readKilobytes(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
  return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1]);
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

const works = (await describeBackends()).filter((backend) => backend.works).map(({ name }) => name);
const candidates = new Map([['none', { ...(await open('none')), sandbox: null, times: [] }]]);
for (const name of works) candidates.set(name, { ...(await open(name)), sandbox: READ_ONLY, times: [] });

// Rounds alternate, so that a slow moment of the machine hits all.
for (let round = 0; round < ROUNDS; round++) {
  for (const { wire, sandbox, times } of candidates.values())
    for (let count = 0; count < STARTS_PER_ROUND; count++) times.push(await timeStart(wire, sandbox));
}
for (const [name, { server, wire, sandbox, times }] of candidates) {
  const { count, kilobytes } = await measureKeepers(wire, sandbox);
  const confined = sandbox === null ? 'unconfined' : name;
  console.log(
    `${confined}: ${median(times).toFixed(1)} ms a start, ${count} processes that wait, ${kilobytes} KB of memory`,
  );
  await wire.close();
  await server.close();
}
