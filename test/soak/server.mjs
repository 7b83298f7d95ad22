// A built server that says over IPC what it holds. Started with --expose-gc by measured-server.ts.
import { readdirSync } from 'node:fs';
import { createExecServer, systemClock } from '@exec-server/server';

let timers = 0;

/** The system's clock, which knows how many of its timers are pending. */
const countingClock = {
  now: () => systemClock.now(),
  after(delayMs, task) {
    let isPending = true;
    const settle = () => {
      if (isPending) timers--;
      isPending = false;
    };
    timers++;
    const timer = systemClock.after(delayMs, () => {
      settle();
      task();
    });
    return {
      cancel() {
        settle();
        timer.cancel();
      },
    };
  },
};

const server = createExecServer({ clock: countingClock, ...JSON.parse(process.argv[2] ?? '{}') });
const { url } = await server.listen('ws://127.0.0.1:0');
process.send({ url });

process.on('message', () => process.send(measure()));
process.on('disconnect', () => void server.close());

function measure() {
  globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  return {
    residentBytes: rss,
    heapBytes: heapUsed + external,
    // The one that lists them does not count.
    descriptors: readdirSync('/proc/self/fd').length - 1,
    timers,
    connections: sumOf('connections'),
    sessions: sumOf('sessions'),
    processes: sumOf('processes'),
    queuedBytes: sumOf('outbound_queue_bytes') + sumOf('stdin_queue_bytes'),
  };
}

function sumOf(name) {
  const metric = server.metrics().find((one) => one.name === `exec_server_${name}`);
  if (metric === undefined) throw new Error(`there is no metric of the name ${name}`);
  return metric.samples.reduce((sum, { value }) => sum + value, 0);
}
