// Whether work stays as cheap when there is much of it: 10 against 2,000 live processes, 1 KiB against 1 MiB retained.
import { runMany, sampleMs, samplesOf } from './measure.mjs';
import { describeStart, runToEnd } from './processes.mjs';
import { RunningServer } from './servers.mjs';
import { median } from './statistics.mjs';

const FEW = 10;
const MANY = 2000;
const AT_A_TIME = 32;
const ROUNDS = 3;
const SMALL_LOG_BYTES = 1024;
const LARGE_LOG_BYTES = 1024 * 1024;

/** Two servers, one with few processes and one with many, so that a slow moment of the machine hits both. */
export async function measureGrowth(system, scale) {
  const argv = [...system.argv, '--max-processes-per-connection', String(2 * MANY)];
  const few = await RunningServer.start({ argv }, 'ws');
  const many = await RunningServer.start({ argv }, 'ws');
  try {
    await holdProcesses(few.client, FEW);
    await holdProcesses(many.client, MANY);
    const start = (server) => () => runToEnd(server.client, ['/bin/true']);
    const small = await startEcho(few.client, SMALL_LOG_BYTES);
    const large = await startEcho(few.client, LARGE_LOG_BYTES);
    return {
      'start to closed with 2,000 live processes, against 10': await compare(start(many), start(few), scale),
      'chunk with 1 MiB retained, against 1 KiB': await compare(large, small, scale),
    };
  } finally {
    await few.stop();
    await many.stop();
  }
}

/** Median time of one kind of work as a share of the other's, in alternating rounds after one to warm up. */
async function compare(work, baseline, scale) {
  const samples = samplesOf(100, scale);
  const ratios = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const base = await sampleMs(baseline, samples);
    const ratio = (await sampleMs(work, samples)).percentile(0.5) / base.percentile(0.5);
    if (round > 0) ratios.push(ratio);
  }
  return median(ratios);
}

async function holdProcesses(client, count) {
  await runMany(count, AT_A_TIME, () => client.call('process/start', describeStart(['/bin/sleep', '600'])));
}

/** A process whose log holds so many bytes; the function it returns makes it write one more and waits for that. */
async function startEcho(client, retainedBytes) {
  const script = `head -c ${retainedBytes} /dev/zero; exec cat`;
  const params = describeStart(['/bin/sh', '-c', script], { pipeStdin: true });
  const { processId } = params;
  await client.call('process/start', params);
  let writes = 0;
  const echoOnce = async () => {
    const echo = client.next('process/output', (output) => output.processId === processId);
    writes += 1;
    await client.call('process/write', { processId, chunk: 'eA==', writeId: String(writes) });
    await echo;
  };
  return echoOnce;
}
