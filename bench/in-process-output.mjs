// Compares output handed over in process with output as binary frames and as JSON over the same memory transport: what a
// program that embeds a server spends from the pipe to its listener. Run after the build:
//   node bench/in-process-output.mjs
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { WireClient } from '@exec-server/client';
import { createMemoryTransportPair } from '@exec-server/rpc';
import { createExecServer } from '@exec-server/server';

const ROUNDS = 5;
const TOTAL_BYTES = 512 * 1024 * 1024;
const FORMS = ['json', 'binary', 'object'];

/** The client's end as a transport that does not know objects, so that it gets frames. */
function withoutObjects(transport) {
  const open = transport.open.bind(transport);
  transport.open = ({ onObject: _, ...handlers }) => open(handlers);
  return transport;
}

async function measure(form) {
  const server = createExecServer();
  const [near, far] = createMemoryTransportPair();
  server.accept(far);
  const transport = form === 'object' ? near : withoutObjects(near);
  const client = await WireClient.connect(transport, { clientName: 'bench', binaryOutput: form !== 'json' });
  let received = 0;
  client.onOutput(({ data }) => {
    received += data.length;
  });
  const closed = new Promise((resolve) => client.on('process/closed', resolve));
  const started = process.cpuUsage();
  const argv = ['/usr/bin/head', '-c', String(TOTAL_BYTES), '/dev/zero'];
  await client.call('process/start', { processId: 'p', argv, cwd: 'file:///tmp', env: {}, tty: false });
  await closed;
  const { user, system } = process.cpuUsage(started);
  if (received !== TOTAL_BYTES) throw new Error(`${received} bytes arrived`);
  client.close();
  await server.close();
  return (user + system) / 1000;
}

/** In a process of its own: the garbage of one form would be collected at the expense of another. */
function measureApart(form) {
  return Number(execFileSync(process.execPath, [fileURLToPath(import.meta.url), form], { encoding: 'utf8' }));
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function compareAll() {
  const times = Object.fromEntries(FORMS.map((form) => [form, []]));
  // Rounds alternate, so that a slow moment of the machine hits all.
  for (let round = 0; round < ROUNDS; round++) for (const form of FORMS) times[form].push(measureApart(form));
  const object = median(times.object);
  for (const form of FORMS) {
    const time = median(times[form]);
    const perGib = Math.round((time * 1024 ** 3) / TOTAL_BYTES);
    console.log(`${form}: ${perGib} ms of CPU per GiB, ${(time / object).toFixed(2)}x`);
  }
}

const [form] = process.argv.slice(2);
if (form === undefined) compareAll();
else console.log(await measure(form));
