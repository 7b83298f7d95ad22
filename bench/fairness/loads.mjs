// What one client does to a server while another asks it whether it is there. Each load gets a server just started, and
// resolves when all of it is over; what `prepare` does is not measured.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeStart, runToEnd } from '../side-by-side/processes.mjs';

const MIB = 1024 * 1024;
const LONG_MESSAGE_BYTES = 60 * MIB;
const BURST = 200;
const LARGE_BURST = 5000;
const SCREENS = 10;
const SCREEN_SIDE = 1000;
const SLEEP = ['/bin/sleep', '600'];

/** Options of this server that the largest burst needs; the reference has no such limit. */
const ROOM_FOR_MANY = ['--max-processes-per-connection', '6000'];

/** Everything may be read, `directory` may be written, there is no network, and `entries` come on top. */
function describeSandbox(directory, entries = []) {
  const cwd = pathToFileURL(directory).href;
  const file_system = {
    type: 'restricted',
    entries: [
      { path: { type: 'special', value: { kind: 'root' } }, access: 'read' },
      { path: { type: 'path', path: cwd }, access: 'write' },
      ...entries,
    ],
  };
  const permissions = { type: 'managed', file_system, network: 'restricted' };
  return { permissions, cwd, windowsSandboxLevel: 'disabled' };
}

/** A sandbox with one rule for each of so many directories, which are there. */
function describeManyEntries(directory, count) {
  const entries = Array.from({ length: count }, (_, index) => {
    const path = join(directory, `group-${index % 32}`, `entry-${index}`);
    mkdirSync(path, { recursive: true });
    return { path: { type: 'path', path: pathToFileURL(path).href }, access: 'read' };
  });
  return describeSandbox(directory, entries);
}

function repeatText(piece, bytes) {
  return Buffer.alloc(bytes - (bytes % piece.length), piece);
}

/** A message whose one parameter is a long string that is written with so many escapes. */
function askWithString(piece) {
  const params = Buffer.concat([
    Buffer.from('{"processId":"'),
    repeatText(piece, LONG_MESSAGE_BYTES),
    Buffer.from('"}'),
  ]);
  return (server) => server.client.callWithBytes('process/wait', params).catch(() => {});
}

function manyStarts(count, argv) {
  return Array.from({ length: count }, () => ['process/start', describeStart(argv)]);
}

async function startSleepers(server, count) {
  const starts = manyStarts(count, SLEEP);
  await server.client.callTogether(starts);
  return starts.map(([, { processId }]) => processId);
}

/** How many processes the server runs, by the count that it tells itself. */
async function countProcesses(client) {
  const { processes } = await client.call('process/list', { scope: 'all' });
  return processes.filter(({ running }) => running).length;
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function sandboxEntries(count) {
  return [
    {
      name: `start with ${count.toLocaleString('en')} sandbox entries`,
      prepare: (_, directory) => describeManyEntries(directory, count),
      run: ({ client }, sandbox) =>
        client.call('process/start', describeStart(['/bin/true'], { cwd: sandbox.cwd, sandbox })),
    },
    {
      name: `\`fs/getMetadata\` with ${count.toLocaleString('en')} sandbox entries`,
      prepare: (_, directory) => describeManyEntries(directory, count),
      run: ({ client }, sandbox) => client.call('fs/getMetadata', { path: sandbox.cwd, sandbox }),
    },
  ];
}

export const loads = [
  { name: 'nothing', run: () => new Promise((resolve) => setTimeout(resolve, 500)) },
  {
    name: 'a failed sandboxed program with 200 kB of output',
    prepare: (_, directory) => describeSandbox(directory),
    run({ client }, sandbox) {
      const script = "head -c 200000 /dev/zero | tr '\\0' a; echo permission denied; exit 1";
      return runToEnd(client, ['/bin/sh', '-c', script], { cwd: sandbox.cwd, sandbox });
    },
  },
  ...[1000, 2000, 10_000].flatMap(sandboxEntries),
  {
    name: 'start with a glob rule over 20,000 files',
    prepare(_, directory) {
      for (let index = 0; index < 200; index++) {
        const place = join(directory, `a-${index % 10}`, `b-${index}`);
        mkdirSync(place, { recursive: true });
        for (let file = 0; file < 100; file++) writeFileSync(join(place, `file-${file}.txt`), '');
      }
      const pattern = `${directory}/**/*.env`;
      return describeSandbox(directory, [{ path: { type: 'glob_pattern', pattern }, access: 'deny' }]);
    },
    run: ({ client }, sandbox) =>
      client.call('process/start', describeStart(['/bin/true'], { cwd: sandbox.cwd, sandbox })),
  },
  {
    name: `${SCREENS} snapshots of ${SCREEN_SIDE} × ${SCREEN_SIDE}`,
    onlyOurs: true,
    async prepare({ client }) {
      const size = { rows: SCREEN_SIDE, cols: SCREEN_SIDE };
      const script = `stty raw; head -c ${SCREEN_SIDE * SCREEN_SIDE} /dev/zero | tr '\\0' x; printf done; exec sleep 600`;
      const params = describeStart(['/bin/sh', '-c', script], { tty: true, size });
      await client.call('process/start', params);
      const { processId } = params;
      for (let afterSeq = 0, text = ''; !text.endsWith('done'); ) {
        const answer = await client.call('process/read', { processId, afterSeq, waitMs: 1000 });
        for (const { chunk } of answer.chunks) text = Buffer.from(chunk, 'base64').toString('latin1');
        afterSeq = answer.nextSeq - 1;
      }
      return processId;
    },
    run: ({ client }, processId) =>
      client.callTogether(Array.from({ length: SCREENS }, () => ['process/snapshot', { processId }])),
  },
  { name: '60 MiB of JSON escapes', prepare: () => askWithString('\\n'), run: (server, ask) => ask(server) },
  {
    name: '60 MiB of `\\u` escapes',
    prepare: () => askWithString('\\u0041'),
    run: (server, ask) => ask(server),
  },
  {
    name: '60 MiB of plain text in a message',
    prepare: () => askWithString('a'),
    run: (server, ask) => ask(server),
  },
  {
    name: '60 MiB of spaces in a message',
    prepare: () => Buffer.concat([Buffer.from('{'), repeatText(' ', LONG_MESSAGE_BYTES), Buffer.from('}')]),
    run: ({ client }, params) => client.callWithBytes('environment/status', params).catch(() => {}),
  },
  {
    name: '250,000 numbers in a message',
    prepare: () => Buffer.from(`{"list":[${'1,'.repeat(250_000)}1]}`),
    run: ({ client }, params) => client.callWithBytes('process/wait', params).catch(() => {}),
  },
  {
    name: 'start with 250,000 variables',
    prepare() {
      const env = Object.fromEntries(
        Array.from({ length: 250_000 }, (_, index) => [`VARIABLE_${index}`, `value ${index}`]),
      );
      return Buffer.from(JSON.stringify(describeStart(['/bin/true'], { env })));
    },
    run: ({ client }, params) => client.callWithBytes('process/start', params).catch(() => {}),
  },
  {
    name: '`fs/readFile` of 100 MiB',
    prepare(_, directory) {
      const file = join(directory, 'large');
      writeFileSync(file, Buffer.alloc(100 * MIB, 'abcdefgh'));
      return pathToFileURL(file).href;
    },
    run: ({ client }, path) => client.call('fs/readFile', { path }),
  },
  {
    name: '`fs/readDirectory` of 50,000 names',
    prepare(_, directory) {
      for (let index = 0; index < 50_000; index++) writeFileSync(join(directory, `file-${index}.txt`), '');
      return pathToFileURL(directory).href;
    },
    run: ({ client }, path) => client.call('fs/readDirectory', { path }),
  },
  {
    name: '`fs/writeFile` of 40 MiB',
    prepare(_, directory) {
      const path = pathToFileURL(join(directory, 'large')).href;
      const dataBase64 = Buffer.alloc(40 * MIB, 'abcdefgh').toString('base64');
      return Buffer.from(JSON.stringify({ path, dataBase64 }));
    },
    run: ({ client }, params) => client.callWithBytes('fs/writeFile', params),
  },
  {
    name: '200 starts at once',
    rate: BURST,
    run: ({ client }) => client.callTogether(manyStarts(BURST, SLEEP)),
  },
  {
    name: '200 ends at once',
    rate: BURST,
    prepare: ({ client }) => startSleepers({ client }, BURST),
    run: ({ client }, ids) =>
      client.callTogether(ids.map((processId) => ['process/terminate', { processId }])),
  },
  {
    name: 'the end of a session with 200 processes',
    onlyOurs: true,
    options: ['--detached-session-ms', '1'],
    async prepare(server) {
      const owner = await server.connect();
      await owner.callTogether(manyStarts(BURST, SLEEP));
      return owner;
    },
    async run({ client }, owner) {
      const before = await countProcesses(client);
      owner.close();
      while ((await countProcesses(client)) > before - BURST) await pause(50);
    },
  },
  {
    name: '200 time limits at once',
    onlyOurs: true,
    async prepare({ client }) {
      const starts = manyStarts(BURST, SLEEP).map(([method, params]) => [
        method,
        { ...params, timeoutMs: 4000 },
      ]);
      await client.callTogether(starts);
    },
    async run({ client }) {
      while ((await countProcesses(client)) > 0) await pause(50);
    },
  },
  {
    name: '5,000 starts at once',
    rate: LARGE_BURST,
    options: ROOM_FOR_MANY,
    run: ({ client }) => client.callTogether(manyStarts(LARGE_BURST, SLEEP)),
  },
];
