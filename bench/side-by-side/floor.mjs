// What the machine gives at best: the same work with nothing in between.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { measureSpawns } from './floor-native.mjs';
import { ownChild } from './leftovers.mjs';
import { measureSeconds, runMany, sampleMs, samplesOf } from './measure.mjs';
import { RunningServer } from './servers.mjs';

const MIB = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
const AT_A_TIME = 32;
const BARE_SERVER = fileURLToPath(new URL('bare-server.mjs', import.meta.url));

/** What each figure of the floor is, in the order in which they are printed. */
export const floorWords = {
  nodeStartMs: 'bare Node, start to end of `node -e 0`, p50, ms',
  nodeRssMib: 'bare Node, memory, MiB',
  spawnMs: '`posix_spawn` of `true` to its end, p50, ms',
  spawnP99Ms: '`posix_spawn` of `true` to its end, p99, ms',
  childProcessMs: 'the same by `child_process`, p50, ms',
  spawnsPerSecond: '`posix_spawn` of `true`, 32 at a time, per second',
  spawnGrowth: '`posix_spawn` with 4,000 open descriptors, against none',
  linesPerSecond: 'lines that a shell writes to `/dev/null`, per second',
  pipeMbPerSecond: 'bare pipe read, MB/s',
  pipeCpuSecondsPerGb: 'bare pipe read, CPU-s per GB',
  ptyMbPerSecond: 'bare pty read, MB/s',
  ptyCpuSecondsPerGb: 'bare pty read, CPU-s per GB',
  wsEchoMs: 'bare WebSocket, echo, p50, ms',
  wsEchoP99Ms: 'bare WebSocket, echo, p99, ms',
  wsEchoesPerSecond: 'bare WebSocket, echoes per second, 32 at a time',
  wsMbPerSecond: 'bare WebSocket, base64 in text frames, MB/s of what is in it',
  wsCpuSecondsPerGb: 'bare WebSocket, base64 in text frames, CPU-s per GB',
  wsBinaryMbPerSecond: 'bare WebSocket, binary frames, MB/s',
  wsBinaryCpuSecondsPerGb: 'bare WebSocket, binary frames, CPU-s per GB',
  stdioEchoMs: 'bare lines over pipes, echo, p50, ms',
  stdioEchoP99Ms: 'bare lines over pipes, echo, p99, ms',
  stdioEchoesPerSecond: 'bare lines over pipes, echoes per second, 32 at a time',
  stdioMbPerSecond: 'bare lines over pipes, base64, MB/s of what is in it',
  stdioCpuSecondsPerGb: 'bare lines over pipes, base64, CPU-s per GB',
};

export async function measureFloor(scale, settle) {
  return {
    ...(await measureNode(scale, settle)),
    ...measureSpawns(scale),
    ...(await measureChildProcess(scale)),
    ...(await measureBareServer('ws', scale)),
    ...(await measureBareServer('stdio', scale)),
  };
}

async function measureNode(scale, settle) {
  const run = (source) => ownChild(spawn(process.execPath, ['-e', source], { stdio: 'ignore' }));
  const starts = await sampleMs(() => ended(run('0')), samplesOf(20, scale));
  const idle = run('setInterval(() => {}, 1e6)');
  await settle();
  const rssKib = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${idle.pid}/status`, 'latin1'))[1]);
  idle.kill();
  await ended(idle);
  return { nodeStartMs: starts.percentile(0.5), nodeRssMib: rssKib / 1024 };
}

async function measureChildProcess(scale) {
  const start = () => ended(ownChild(spawn('/bin/true', { stdio: ['ignore', 'pipe', 'pipe'] })));
  const starts = await sampleMs(start, samplesOf(100, scale));
  return { childProcessMs: starts.percentile(0.5) };
}

const ended = (child) => new Promise((resolve) => child.once('close', resolve));

/** The client, the transport and nothing behind it. */
async function measureBareServer(transport, scale) {
  const server = await RunningServer.start({ argv: [process.execPath, BARE_SERVER] }, transport);
  try {
    const echo = () => server.client.call('echo');
    await sampleMs(echo, samplesOf(100, scale));
    const echoes = await sampleMs(echo, samplesOf(500, scale));
    const total = Math.ceil(10_000 * scale);
    const seconds = await measureSeconds(() => runMany(total, AT_A_TIME, echo));
    return {
      [`${transport}EchoMs`]: echoes.percentile(0.5),
      [`${transport}EchoP99Ms`]: echoes.percentile(0.99),
      [`${transport}EchoesPerSecond`]: total / seconds,
      ...(await measureStream(server, transport, false, scale)),
      ...(transport === 'ws' && (await measureStream(server, 'wsBinary', true, scale))),
    };
  } finally {
    await server.stop();
  }
}

async function measureStream(server, name, binary, scale) {
  const bytes = Math.ceil(256 * scale) * MIB;
  const params = { bytes, messageBytes: CHUNK_BYTES, binary };
  await server.client.call('stream', { ...params, bytes: bytes / 8 });
  const before = server.cpuSeconds();
  const seconds = await measureSeconds(() => server.client.call('stream', params));
  return {
    [`${name}MbPerSecond`]: bytes / 1e6 / seconds,
    [`${name}CpuSecondsPerGb`]: (server.cpuSeconds() - before) / (bytes / 1e9),
  };
}
