// What is promised: ours divided by the reference, on the same transport, in one run.

const atMost = (limit) => ({ limit, holds: (ratio) => ratio <= limit, words: `≤ ${limit}` });
const atLeast = (limit) => ({ limit, holds: (ratio) => ratio >= limit, words: `≥ ${limit}` });

/** One row a figure: the workload, the figure's name in its answer, its words, and the targets by transport. */
export const figures = [
  row('sequentialStarts', 'p50Ms', 'start to closed of `true`, p50, ms', atMost(0.04), atMost(0.35)),
  row('sequentialStarts', 'p99Ms', 'start to closed of `true`, p99, ms', atMost(0.15), atMost(0.8)),
  row('sandboxedStarts', 'p50Ms', 'start to closed of a sandboxed `true`, p50, ms', atMost(0.5), atMost(0.5)),
  row('sandboxedStarts', 'p99Ms', 'start to closed of a sandboxed `true`, p99, ms', atMost(0.8), atMost(0.8)),
  row('sandboxedMetadata', 'firstMs', 'the first sandboxed `fs/getMetadata`, ms', atMost(3), atMost(3)),
  row('sandboxedMetadata', 'p50Ms', 'a later sandboxed `fs/getMetadata`, p50, ms', atMost(0.1), atMost(0.1)),
  row('sandboxedMetadata', 'p99Ms', 'a later sandboxed `fs/getMetadata`, p99, ms', atMost(0.2), atMost(0.2)),
  row('parallelStarts', 'perSecond', 'starts per second, 32 at a time', atLeast(3), atLeast(3)),
  row('ptyEcho', 'p50Ms', 'pty echo, p50, ms', atMost(0.01), atMost(1)),
  row('pipeOutput', 'mbPerSecond', 'pipe output, MB/s', atLeast(2.5), atLeast(5)),
  row('pipeOutput', 'cpuSecondsPerGb', 'pipe output, server CPU-s per GB', atMost(0.35), atMost(0.2)),
  row('binaryPipeOutput', 'mbPerSecond', 'pipe output in binary frames, MB/s', atLeast(4)),
  row('binaryPipeOutput', 'cpuSecondsPerGb', 'pipe output in binary frames, CPU-s per GB', atMost(0.2)),
  row('ptyOutput', 'mbPerSecond', 'pty output, MB/s', atLeast(1), atLeast(1.6)),
  row('ptyOutput', 'cpuSecondsPerGb', 'pty output, server CPU-s per GB', atMost(1), atMost(0.45)),
  row('shortLines', 'linesPerSecond', '20,000 short lines, lines per second', atLeast(1.5), atLeast(2)),
  row('manyProcesses', 'mbPerSecond', '100 processes of 1 MB at once, MB/s', atLeast(1.5), atLeast(2)),
  row('files', 'readMibPerSecond', '`readFile` of 1 MiB, MiB/s', atLeast(1.5), atLeast(1.3)),
  row('files', 'writeMibPerSecond', '`writeFile` of 1 MiB, MiB/s', atLeast(1.3), atLeast(1.3)),
  row('files', 'metadataPerSecond', '`getMetadata` per second', atLeast(1.3), atLeast(1.3)),
  row('idleMemory', 'rssMib', 'idle memory, MiB', atMost(1.1)),
  row('memoryPerProcess', 'kib', 'memory per idle process, KiB', atMost(0.25)),
  row('stalledReader', 'peakMib', 'peak memory with a stalled reader of 1 GB, MiB', atMost(1.3)),
  row('coldStart', 'ms', 'cold start to an answered `initialize`, ms', atMost(5), atMost(4)),
  row('httpStream', 'mbPerSecond', '`http/request` streamed, MB/s', atLeast(1.5)),
];

function row(workload, figure, words, ws, stdio) {
  return { workload, figure, words, targets: { ...(ws && { ws }), ...(stdio && { stdio }) } };
}
