// The work that both servers are given. Each workload measures one server once and returns its figures by name.
// `scale` is how much of it there is, 1 in a whole run; what is done to warm a server up is not recorded.

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeDirectory, removeDirectory } from './leftovers.mjs';
import { measureSeconds, runMany, sampleMs, samplesOf } from './measure.mjs';
import { describeStart, endProcess, runToEnd, SHORT_LINES, writeLines } from './processes.mjs';
import { median } from './statistics.mjs';

const MIB = 1024 * 1024;
const LINE_RUNS = 5;
let requests = 0;

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
    return { ms: await sampleMs(() => runToEnd(server.client, ['/bin/true']), samplesOf(150, scale)) };
  },

  /** The same in a sandbox that reads everything, writes one directory and has no network. */
  sandboxedStarts(server, { scale }) {
    return inSandbox(['root'], 'write', async (sandbox, cwd) => {
      const start = () => runToEnd(server.client, ['/bin/true'], { cwd, sandbox });
      return { ms: await sampleMs(start, samplesOf(40, scale)) };
    });
  },

  /** What a file is, in a sandbox that has nothing but one directory: the first time, and from then on. */
  sandboxedMetadata(server, { scale }) {
    return inSandbox([], 'read', async (sandbox, path) => {
      const look = () => server.client.call('fs/getMetadata', { path, sandbox });
      const firstMs = 1000 * (await measureSeconds(look));
      return { firstMs, ms: await sampleMs(look, samplesOf(40, scale)) };
    });
  },

  async parallelStarts(server, { scale }) {
    const total = Math.ceil(300 * scale);
    const seconds = await measureSeconds(() =>
      runMany(total, 32, () => runToEnd(server.client, ['/bin/true'])),
    );
    return { perSecond: total / seconds };
  },

  /** One key to a terminal and its echo back. */
  async ptyEcho({ client }, { scale }) {
    const params = describeStart(['/bin/cat'], { tty: true });
    const { processId } = params;
    await client.call('process/start', params);
    const press = async (index) => {
      const echo = client.next('process/output', (output) => output.processId === processId);
      await client.call('process/write', { processId, chunk: 'eA==', writeId: String(index) });
      await echo;
    };
    const ms = await sampleMs(press, samplesOf(150, scale));
    await endProcess(client, params);
    return { ms };
  },

  async pipeOutput(server, { scale }) {
    const bytes = Math.ceil(256 * scale) * MIB;
    return await measureOutput(server, ['/usr/bin/head', '-c', String(bytes), '/dev/zero'], bytes);
  },

  async ptyOutput(server, { scale }) {
    const bytes = Math.ceil(96 * scale) * MIB;
    return await measureOutput(server, ['/usr/bin/head', '-c', String(bytes), '/dev/zero'], bytes, {
      tty: true,
    });
  },

  /** 20,000 lines, each written by itself; several times, because it takes no longer than a pause of the machine. */
  async shortLines(server, { warmUp = false }) {
    const argv = writeLines(warmUp ? 2000 : SHORT_LINES);
    const times = [];
    while (times.length < LINE_RUNS) times.push(await measureSeconds(() => runToEnd(server.client, argv)));
    return { linesPerSecond: SHORT_LINES / median(times) };
  },

  async manyProcesses(server, { warmUp = false }) {
    const processes = warmUp ? 10 : 100;
    const seconds = await measureSeconds(() =>
      runMany(processes, processes, () =>
        runToEnd(server.client, ['/usr/bin/head', '-c', '1000000', '/dev/zero']),
      ),
    );
    return { mbPerSecond: processes / seconds };
  },

  async files(server, { scale }) {
    const directory = makeDirectory('files');
    const file = join(directory, 'file');
    const path = pathToFileURL(file).href;
    const dataBase64 = Buffer.from(Buffer.alloc(MIB, 'abcdefgh').toString('base64'));
    const { client } = server;
    try {
      writeFileSync(file, Buffer.alloc(MIB, 1));
      const files = Math.ceil(128 * scale);
      const readSeconds = await measureSeconds(() =>
        runMany(files, 4, () => client.call('fs/readFile', { path })),
      );
      const writeSeconds = await measureSeconds(() =>
        runMany(files, 4, (index) =>
          client.callWithText('fs/writeFile', { path: `${path}-${index % 4}` }, 'dataBase64', dataBase64),
        ),
      );
      const lookups = Math.ceil(10_000 * scale);
      const lookupSeconds = await measureSeconds(() =>
        runMany(lookups, 32, () => client.call('fs/getMetadata', { path })),
      );
      return {
        readMibPerSecond: files / readSeconds,
        writeMibPerSecond: files / writeSeconds,
        metadataPerSecond: lookups / lookupSeconds,
      };
    } finally {
      removeDirectory(directory);
    }
  },

  async httpStream(server, { scale }) {
    const bytes = Math.ceil(256 * Math.min(1, 4 * scale)) * MIB;
    const web = serveBody(bytes);
    await new Promise((resolve) => web.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${web.address().port}/`;
      requests += 1;
      const requestId = `http-${requests}`;
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

/** Makes a directory and a sandbox without network that may read certain places, and has `access` to the directory. */
async function inSandbox(readable, access, measure) {
  const directory = makeDirectory('sandbox');
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
    removeDirectory(directory);
  }
}
