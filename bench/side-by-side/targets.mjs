// What is promised: ours divided by the reference, on the same transport, in one run.

const atMost = (limit) => ({ limit, holds: (ratio) => ratio <= limit, words: `≤ ${limit}` });
const atLeast = (limit) => ({ limit, holds: (ratio) => ratio >= limit, words: `≥ ${limit}` });

/**
 * One row a figure: the workload, the figure's name in its answer, the percentile where it is one of samples, its words,
 * the targets by transport, and what the figure would be with nothing but the floor, where that says something.
 */
export const figures = [
  row('sequentialStarts', 'ms', 'start to closed of `true`, p50, ms', [atMost(0.04), atMost(0.35)], {
    percentile: 0.5,
    bare: (floor, transport) => floor.spawnMs + floor[`${transport}EchoMs`],
    bareWords: '`posix_spawn` and an echo',
  }),
  row('sequentialStarts', 'ms', 'start to closed of `true`, p99, ms', [atMost(0.15), atMost(0.8)], {
    percentile: 0.99,
    bare: (floor, transport) => floor.spawnMs + floor[`${transport}EchoMs`],
    bareWords: '`posix_spawn` and an echo (p50)',
  }),
  row('sandboxedStarts', 'ms', 'start to closed of a sandboxed `true`, p50, ms', [atMost(0.5), atMost(0.5)], {
    percentile: 0.5,
  }),
  row('sandboxedStarts', 'ms', 'start to closed of a sandboxed `true`, p99, ms', [atMost(0.8), atMost(0.8)], {
    percentile: 0.99,
  }),
  row('sandboxedMetadata', 'firstMs', 'the first sandboxed `fs/getMetadata`, ms', [atMost(3), atMost(3)]),
  row('sandboxedMetadata', 'ms', 'a later sandboxed `fs/getMetadata`, p50, ms', [atMost(0.1), atMost(0.1)], {
    percentile: 0.5,
  }),
  row('sandboxedMetadata', 'ms', 'a later sandboxed `fs/getMetadata`, p99, ms', [atMost(0.2), atMost(0.2)], {
    percentile: 0.99,
  }),
  row('parallelStarts', 'perSecond', 'starts per second, 32 at a time', [atLeast(3), atLeast(3)], {
    bare: (floor) => floor.spawnsPerSecond,
    bareWords: '`posix_spawn` from one thread',
  }),
  row('ptyEcho', 'ms', 'pty echo, p50, ms', [atMost(0.01), atMost(1)], {
    percentile: 0.5,
    bare: (floor, transport) => floor[`${transport}EchoMs`],
    bareWords: 'an echo without a terminal',
  }),
  row('pipeOutput', 'mbPerSecond', 'pipe output, MB/s', [atLeast(2.5), atLeast(5)], slowest('pipe')),
  row(
    'pipeOutput',
    'cpuSecondsPerGb',
    'pipe output, server CPU-s per GB',
    [atMost(0.35), atMost(0.2)],
    sum('pipe'),
  ),
  row(
    'binaryPipeOutput',
    'mbPerSecond',
    'pipe output in binary frames, MB/s',
    [atLeast(4)],
    slowest('pipe', 'wsBinary'),
  ),
  row(
    'binaryPipeOutput',
    'cpuSecondsPerGb',
    'pipe output in binary frames, CPU-s per GB',
    [atMost(0.2)],
    sum('pipe', 'wsBinary'),
  ),
  row('ptyOutput', 'mbPerSecond', 'pty output, MB/s', [atLeast(1), atLeast(1.6)], slowest('pty')),
  row(
    'ptyOutput',
    'cpuSecondsPerGb',
    'pty output, server CPU-s per GB',
    [atMost(1), atMost(0.45)],
    sum('pty'),
  ),
  row('shortLines', 'linesPerSecond', '20,000 short lines, lines per second', [atLeast(1.5), atLeast(2)], {
    bare: (floor) => floor.linesPerSecond,
    bareWords: 'the shell that writes them',
  }),
  row('manyProcesses', 'mbPerSecond', '100 processes of 1 MB at once, MB/s', [atLeast(1.5), atLeast(2)], {
    bare: (floor) => floor.spawnsPerSecond,
    bareWords: 'their `posix_spawn` from one thread',
  }),
  row('files', 'readMibPerSecond', '`readFile` of 1 MiB, MiB/s', [atLeast(1.5), atLeast(1.3)], {
    bare: (floor, transport) => (floor[`${transport}MbPerSecond`] * 1e6) / 2 ** 20,
    bareWords: 'the transport of their base64',
  }),
  row('files', 'writeMibPerSecond', '`writeFile` of 1 MiB, MiB/s', [atLeast(1.3), atLeast(1.3)]),
  row('files', 'metadataPerSecond', '`getMetadata` per second', [atLeast(1.3), atLeast(1.3)], {
    bare: (floor, transport) => floor[`${transport}EchoesPerSecond`],
    bareWords: 'echoes of requests',
  }),
  row('idleMemory', 'rssMib', 'idle memory, MiB', [atMost(1.1)], bareNode('nodeRssMib')),
  row('memoryPerProcess', 'kib', 'memory per idle process, KiB', [atMost(0.25)]),
  row(
    'stalledReader',
    'peakMib',
    'peak memory with a stalled reader of 1 GB, MiB',
    [atMost(1.3)],
    bareNode('nodeRssMib'),
  ),
  row(
    'coldStart',
    'ms',
    'cold start to an answered `initialize`, ms',
    [atMost(5), atMost(4)],
    bareNode('nodeStartMs'),
  ),
  row('httpStream', 'mbPerSecond', '`http/request` streamed, MB/s', [atLeast(1.5)], {
    bare: (floor) => floor.wsMbPerSecond,
    bareWords: 'the transport of its base64',
  }),
];

/** Cost that must not grow, with what the machine itself lets it grow by. */
export const FLAT_WITHIN = 1.3;
export const growthRows = [
  { figure: 'start to closed with 2,000 live processes, against 10', bare: 'spawnGrowth' },
  { figure: 'chunk with 1 MiB retained, against 1 KiB' },
];

function row(workload, figure, words, [ws, stdio], more = {}) {
  return { workload, figure, words, targets: { ...(ws && { ws }), ...(stdio && { stdio }) }, ...more };
}

/** No faster than reading the source and than sending what was read. */
function slowest(source, sink) {
  return {
    bare: (floor, transport) =>
      Math.min(floor[`${source}MbPerSecond`], floor[`${sink ?? transport}MbPerSecond`]),
    bareWords: `the slower of reading a ${source} and sending`,
  };
}

/** No cheaper than reading the source and sending what was read. */
function sum(source, sink) {
  return {
    bare: (floor, transport) =>
      floor[`${source}CpuSecondsPerGb`] + floor[`${sink ?? transport}CpuSecondsPerGb`],
    bareWords: `reading a ${source} and sending`,
  };
}

function bareNode(figure) {
  return { bare: (floor) => floor[figure], bareWords: 'bare Node' };
}
