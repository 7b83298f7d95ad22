// Whether work stays as cheap when there is much of it: 10 against 2,000 live processes, 1 KiB against 1 MiB retained.
import { RunningServer } from './servers.mjs';
import { workloads } from './workloads.mjs';

const FEW = 10;
const MANY = 2000;
const AT_A_TIME = 32;

export async function measureGrowth(system, scale) {
  process.stderr.write('growth\n');
  const options = { scale };
  const argv = [...system.argv, '--max-processes-per-connection', String(2 * MANY)];
  const server = await RunningServer.start({ argv }, 'ws');
  try {
    await holdProcesses(server.client, 0, FEW);
    const few = await median3(() => workloads.sequentialStarts(server, options), 'p50Ms');
    await holdProcesses(server.client, FEW, MANY);
    const many = await median3(() => workloads.sequentialStarts(server, options), 'p50Ms');
    const small = await perChunk(server.client, 1024);
    const large = await perChunk(server.client, 1024 * 1024);
    return {
      'start to closed with 2,000 live processes, against 10': many / few,
      'chunk with 1 MiB retained, against 1 KiB': large / small,
    };
  } finally {
    await server.stop();
  }
}

async function holdProcesses(client, from, to) {
  for (let next = from; next < to; next += AT_A_TIME) {
    const batch = Array.from({ length: Math.min(AT_A_TIME, to - next) }, (_, offset) =>
      client.call('process/start', {
        processId: `held-${next + offset}`,
        argv: ['/bin/sleep', '600'],
        cwd: 'file:///tmp',
        env: {},
        tty: false,
      }),
    );
    await Promise.all(batch);
  }
}

async function median3(work, figure) {
  const values = [];
  for (let n = 0; n < 3; n++) values.push((await work())[figure]);
  return values.toSorted((a, b) => a - b)[1];
}

/** Microseconds for one small write and its echo by a process whose log already holds so many bytes. */
async function perChunk(client, retainedBytes) {
  const processId = `retained-${retainedBytes}`;
  const script = `head -c ${retainedBytes} /dev/zero; exec cat`;
  await client.call('process/start', {
    processId,
    argv: ['/bin/sh', '-c', script],
    cwd: 'file:///tmp',
    env: { PATH: '/usr/bin:/bin' },
    tty: false,
    pipeStdin: true,
  });
  const times = [];
  for (let n = 0; n < 500; n++) {
    const started = process.hrtime.bigint();
    const echo = client.next('process/output', (output) => output.processId === processId);
    await client.call('process/write', { processId, chunk: 'eA==', writeId: String(n) });
    await echo;
    times.push(Number(process.hrtime.bigint() - started) / 1000);
  }
  await client.call('process/terminate', { processId });
  return times.toSorted((a, b) => a - b)[times.length >> 1];
}
