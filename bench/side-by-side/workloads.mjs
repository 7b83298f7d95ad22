// The work that both servers are given. Each workload measures one server once and returns its figures by name.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const MIB = 1024 * 1024;
const CWD = 'file:///tmp';
let count = 0;

function describeStart(argv, more = {}) {
  count += 1;
  return { processId: `bench-${count}`, argv, cwd: CWD, env: { PATH: '/usr/bin:/bin' }, tty: false, ...more };
}

/** Starts a process and resolves when its output is complete. */
async function runToEnd(client, argv, more) {
  const params = describeStart(argv, more);
  const closed = client.next('process/closed', ({ processId }) => processId === params.processId);
  await client.call('process/start', params);
  await closed;
  return params.processId;
}

async function measureSeconds(work) {
  const started = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - started) / 1e9;
}

function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Keeps `width` runs of `work` going until `total` are done. */
async function runMany(total, width, work) {
  let begun = 0;
  const worker = async () => {
    while (begun < total) {
      const index = begun++;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** Throughput of a process's output, and the CPU that the server spends on it. */
async function measureOutput(server, argv, bytes, more) {
  const cpuBefore = server.cpuSeconds();
  const seconds = await measureSeconds(() => runToEnd(server.client, argv, more));
  const cpu = server.cpuSeconds() - cpuBefore;
  return { mbPerSecond: bytes / 1e6 / seconds, cpuSecondsPerGb: cpu / (bytes / 1e9) };
}

export const workloads = {
  /** Start to closed of `true`, one after the other. */
  async sequentialStarts(server, { scale }) {
    const times = [];
    for (let n = 0; n < 100 * scale; n++)
      times.push(1000 * (await measureSeconds(() => runToEnd(server.client, ['/bin/true']))));
    return { p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
  },

  /** The same in a sandbox that reads everything, writes one directory and has no network. */
  sandboxedStarts(server, { scale }) {
    return inSandbox(['root'], 'write', async (sandbox, cwd) => {
      const times = [];
      for (let n = 0; n < 25 * scale; n++)
        times.push(
          1000 * (await measureSeconds(() => runToEnd(server.client, ['/bin/true'], { cwd, sandbox }))),
        );
      return { p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
    });
  },

  /** What a file is, in a sandbox that has nothing but one directory: the first time, and from then on. */
  sandboxedMetadata(server, { scale }) {
    return inSandbox([], 'read', async (sandbox, path) => {
      const look = async () =>
        1000 * (await measureSeconds(() => server.client.call('fs/getMetadata', { path, sandbox })));
      const firstMs = await look();
      const times = [];
      for (let n = 0; n < 50 * scale; n++) times.push(await look());
      return { firstMs, p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
    });
  },

  async parallelStarts(server, { scale }) {
    const total = 400 * scale;
    const seconds = await measureSeconds(() =>
      runMany(total, 32, () => runToEnd(server.client, ['/bin/true'])),
    );
    return { perSecond: total / seconds };
  },

  /** One key to a terminal and its echo back. */
  async ptyEcho(server, { scale }) {
    const { client } = server;
    const params = describeStart(['/bin/cat'], { tty: true });
    await client.call('process/start', params);
    const isOurs = ({ processId }) => processId === params.processId;
    const times = [];
    for (let n = 0; n < 100 * scale; n++) {
      const seconds = await measureSeconds(async () => {
        const echo = client.next('process/output', isOurs);
        await Promise.all([
          client.call('process/write', { processId: params.processId, chunk: 'eA==', writeId: String(n) }),
          echo,
        ]);
      });
      times.push(seconds * 1000);
    }
    const closed = client.next('process/closed', isOurs);
    await client.call('process/terminate', { processId: params.processId });
    await closed;
    return { p50Ms: percentile(times, 0.5) };
  },

  async pipeOutput(server, { scale }) {
    const bytes = Math.round(512 * scale) * MIB;
    return await measureOutput(server, ['/usr/bin/head', '-c', String(bytes), '/dev/zero'], bytes);
  },

  async ptyOutput(server, { scale }) {
    const bytes = Math.round(96 * scale) * MIB;
    return await measureOutput(server, ['/usr/bin/head', '-c', String(bytes), '/dev/zero'], bytes, {
      tty: true,
    });
  },

  /** 20,000 lines, each written by itself. */
  async shortLines(server) {
    const lines = 20_000;
    const script = `i=0; while [ $i -lt ${lines} ]; do echo "line $i"; i=$((i+1)); done`;
    const seconds = await measureSeconds(() => runToEnd(server.client, ['/bin/sh', '-c', script]));
    return { linesPerSecond: lines / seconds };
  },

  async manyProcesses(server) {
    const processes = 100;
    const seconds = await measureSeconds(() =>
      runMany(processes, processes, () =>
        runToEnd(server.client, ['/usr/bin/head', '-c', '1000000', '/dev/zero']),
      ),
    );
    return { mbPerSecond: processes / seconds };
  },

  async files(server, { scale }) {
    const directory = mkdtempSync(join(tmpdir(), 'exec-server-bench-'));
    const file = join(directory, 'file');
    const path = pathToFileURL(file).href;
    const dataBase64 = Buffer.from(Buffer.alloc(MIB, 'abcdefgh').toString('base64'));
    const { client } = server;
    try {
      writeFileSync(file, Buffer.alloc(MIB, 1));
      const files = Math.round(128 * scale);
      const readSeconds = await measureSeconds(() =>
        runMany(files, 4, () => client.call('fs/readFile', { path })),
      );
      const writeSeconds = await measureSeconds(() =>
        runMany(files, 4, (index) =>
          client.callWithText('fs/writeFile', { path: `${path}-${index % 4}` }, 'dataBase64', dataBase64),
        ),
      );
      const lookups = 10_000 * scale;
      const lookupSeconds = await measureSeconds(() =>
        runMany(lookups, 32, () => client.call('fs/getMetadata', { path })),
      );
      return {
        readMibPerSecond: files / readSeconds,
        writeMibPerSecond: files / writeSeconds,
        metadataPerSecond: lookups / lookupSeconds,
      };
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },

  async httpStream(server, { scale }) {
    const bytes = Math.round(256 * scale) * MIB;
    const web = serveBody(bytes);
    await new Promise((resolve) => web.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${web.address().port}/`;
      count += 1;
      const requestId = `http-${count}`;
      const seconds = await measureSeconds(async () => {
        const done = server.client.next(
          'http/request/bodyDelta',
          (delta) => delta.requestId === requestId && delta.done,
        );
        await server.client.call('http/request', { method: 'GET', url, requestId, streamResponse: true });
        await done;
      });
      return { mbPerSecond: bytes / 1e6 / seconds };
    } finally {
      web.close();
    }
  },
};

/** A web server with one answer. It is no more than a socket, because it shares two cores with what is measured. */
function serveBody(bytes) {
  const block = Buffer.alloc(MIB, 'x');
  return createServer((socket) => {
    let left = bytes;
    const write = () => {
      while (left > 0) {
        left -= block.length;
        if (!socket.write(block)) {
          socket.once('drain', write);
          return;
        }
      }
      socket.end();
    };
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\nConnection: close\r\n\r\n`);
      write();
    });
  });
}

/** Work that needs a server of its own, freshly started. */
export const freshWorkloads = {
  async idleMemory(server, { settle }) {
    await settle();
    return { rssMib: server.memory().rssKib / 1024 };
  },

  async memoryPerProcess(server, { settle, scale }) {
    const { client } = server;
    const processes = Math.round(400 * scale);
    await runToEnd(client, ['/bin/true']);
    await settle();
    const before = server.memory().rssKib;
    const started = [];
    await runMany(processes, 16, async () => {
      const params = describeStart(['/bin/sleep', '600']);
      await client.call('process/start', params);
      started.push(params.processId);
    });
    await settle();
    const kib = (server.memory().rssKib - before) / processes;
    await Promise.all(started.map((processId) => client.call('process/terminate', { processId })));
    return { kib };
  },

  /** The most memory a server takes while its client stops reading a stream of 1 GB for a while. */
  async stalledReader(server, { settle }) {
    const { client } = server;
    const params = describeStart(['/usr/bin/head', '-c', '1000000000', '/dev/zero']);
    const closed = client.next('process/closed', ({ processId }) => processId === params.processId);
    await client.call('process/start', params);
    client.pause();
    await settle();
    await settle();
    const { peakKib } = server.memory();
    client.resume();
    await closed;
    return { peakMib: peakKib / 1024 };
  },
};

/** Makes a directory and a sandbox without network that may read certain places, and has `access` to the directory. */
async function inSandbox(readable, access, measure) {
  const directory = mkdtempSync(join(tmpdir(), 'bench-sandbox-'));
  const cwd = pathToFileURL(directory).href;
  const entries = [
    ...readable.map((kind) => ({ path: { type: 'special', value: { kind } }, access: 'read' })),
    { path: { type: 'path', path: cwd }, access },
  ];
  const permissions = {
    type: 'managed',
    file_system: { type: 'restricted', entries },
    network: 'restricted',
  };
  try {
    return await measure({ permissions, cwd, windowsSandboxLevel: 'disabled' }, cwd);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
