// Work that needs a server of its own, freshly started: its memory.
import { runMany } from './measure.mjs';
import { describeStart, endProcess, runToEnd } from './processes.mjs';

/** A smaller number of processes would show the steps in which a heap grows. */
const IDLE_PROCESSES = 400;

/** Run to their end before: code that is loaded or compiled at its first uses is no cost of a process. */
const WARM_UP_PROCESSES = 100;

export const freshWorkloads = {
  async idleMemory(server, { settle }) {
    await settle();
    return { rssMib: server.memory().rssKib / 1024 };
  },

  async memoryPerProcess(server, { settle }) {
    const { client } = server;
    await runMany(WARM_UP_PROCESSES, 16, () => runToEnd(client, ['/bin/true']));
    await settle();
    const before = server.memory().rssKib;
    const start = () => client.call('process/start', describeStart(['/bin/sleep', '600']));
    await runMany(IDLE_PROCESSES, 16, start);
    await settle();
    // They end with the server.
    return { kib: (server.memory().rssKib - before) / IDLE_PROCESSES };
  },

  /** The most memory a server takes while its client, having read a part, stops reading a stream of 1 GB. */
  async stalledReader(server, { settle }) {
    const { client } = server;
    const params = describeStart(['/usr/bin/head', '-c', '1000000000', '/dev/zero']);
    await client.call('process/start', params);
    client.pause();
    await settle();
    await settle();
    const { peakKib } = server.memory();
    client.resume();
    await endProcess(client, params);
    return { peakMib: peakKib / 1024 };
  },
};
