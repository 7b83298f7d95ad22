import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_FILE_BLOCK_BYTES, MAX_OBJECT_MEMBERS, MAX_TEXT_BYTES } from '@exec-server/protocol';
import { describe, expect, it } from 'vitest';
import { RAW_LINKS, type RawLink } from '../support/raw-links.js';
import { openServer, shellParams } from '../support/session.js';
import { makeTempDirectory } from '../support/temp-directory.js';
import { commandParams } from '../support/v0-client.js';

const MIB = 1024 * 1024;
const EXEC = { clientName: 'test' };
const APP = { clientInfo: { name: 'test', title: 'test', version: '1' } };

async function shakeHands(link: RawLink, params: object = EXEC): Promise<RawLink> {
  link.send(JSON.stringify({ id: 'hello', method: 'initialize', params }));
  await link.hears('"id":"hello"');
  link.send('{"method":"initialized"}');
  return link;
}

const open = async (kind: string, server = openServer(), params: object = EXEC) =>
  shakeHands(await RAW_LINKS[kind]!(server), params);

const ask = (id: string, method: string, params: object) => JSON.stringify({ id, method, params });

/** A request that is nothing but long. */
const long = (id: string, piece: string, bytes: number) =>
  `{"id":"${id}","method":"no/such/method","params":{"list":["${piece.repeat(bytes / piece.length)}"]}}`;

/** Everything that came, with an answer for each of the ids in the order of them. */
async function hearInOrder(link: RawLink, ids: readonly string[]): Promise<void> {
  await link.hears(`"id":"${ids.at(-1)}"`);
  link.destroy();
  const text = await link.closed;
  const places = ids.map((id) => text.indexOf(`"id":"${id}"`));
  expect(places.filter((place) => place === -1)).toEqual([]);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
}

describe.each(Object.keys(RAW_LINKS))('on %s', (kind) => {
  it('messages that are read in pieces are handled in their order', async () => {
    const link = await open(kind);
    // Nobody waits for what is refused, so that the answers come as the messages are handled.
    const texts = [
      ask('first', 'no/such/method', {}),
      long('second', '\\n', 2 * MIB),
      ask('third', 'no/such/method', {}),
      long('fourth', 'x', 100_000),
      `{"id":"fifth",${' '.repeat(300_000)}"method":"no/such/method"}`,
      ask('sixth', 'no/such/method', {}),
    ];
    link.write(Buffer.concat(texts.map((text) => link.encode(text))));
    await hearInOrder(link, ['first', 'second', 'third', 'fourth', 'fifth', 'sixth']);
  });

  it('a message that is read in pieces lets another connection have its turn', async () => {
    const server = openServer();
    const bystander = await open('a Unix socket', server);
    const link = await open(kind, server);
    const text = long('long', '\\u0041', 12 * MIB);
    link.sendUnfinished(text);
    let rounds = 0;
    const ping = async () => {
      bystander.send(ask(`ping ${++rounds}`, 'environment/status', {}));
      await bystander.hears(`"ping ${rounds}"`);
    };
    while (rounds < 20) await ping();
    let isAnswered = false;
    link.write(link.encode(text).subarray(-1));
    const answered = link.hears('"id":"long"').then(() => (isAnswered = true));
    while (!isAnswered) await ping();
    await answered;
    // At once it is a turn or two.
    expect(rounds).toBeGreaterThan(30);
  });
});

it.each([
  ['exec', EXEC, 'process/start'],
  ['app', APP, 'command/exec'],
  ['exec-v0', EXEC, 'command/exec'],
])(
  '%s: what is larger than a message may hold is refused with its number, and others go on',
  async (_, hello, method) => {
    const link = await open('a WebSocket', openServer(), hello);
    const env = Object.fromEntries(
      Array.from({ length: MAX_OBJECT_MEMBERS + 1 }, (_, index) => [`V${index}`, 'x']),
    );
    link.send(ask('many', method, { env }));
    await link.hears(`params.env has more than ${MAX_OBJECT_MEMBERS} members`);
    link.send(ask('long', method, { cwd: 'x'.repeat(MAX_TEXT_BYTES + 1) }));
    await link.hears(`params.cwd is a string of more than ${MAX_TEXT_BYTES} bytes`);
    link.send(ask('next', 'no/such/method', {}));
    await link.hears('"id":"next"');
    link.destroy();
    expect((await link.closed).match(/"code":-32602/g)).toHaveLength(2);
  },
);

it('a long line of spaces is no message, and one that ends in the middle is malformed', async () => {
  const link = await open('a Unix socket');
  link.send(' '.repeat(200_000));
  link.send(ask('next', 'environment/status', {}));
  await link.hears('"id":"next"');
  link.send(`[${' '.repeat(200_000)}`);
  await link.hears('EOF while parsing a list at line 1 column 200001');
  link.destroy();
  expect((await link.closed).match(/failed to parse/g)).toHaveLength(1);
});

describe('content', () => {
  const content = Buffer.from(Array.from({ length: 3 * MIB }, (_, index) => (index * 7) % 251));

  it('of `process/write` comes to the program as it is', async () => {
    const file = join(await makeTempDirectory(), 'copy');
    const link = await open('a WebSocket');
    link.send(
      ask('start', 'process/start', shellParams('p', `cat > ${file}; echo done`, { pipeStdin: true })),
    );
    await link.hears('"id":"start"');
    const pieces = [
      content.subarray(0, 100_000),
      content.subarray(100_000, 200_000),
      content.subarray(200_000),
    ];
    for (const [index, piece] of pieces.entries()) {
      const chunk = piece.toString('base64');
      link.send(
        ask(`w${index}`, 'process/write', {
          processId: 'p',
          chunk,
          writeId: `w${index}`,
          closeStdin: index === 2,
        }),
      );
    }
    await link.hears('process/closed');
    expect(content.equals(await readFile(file))).toBe(true);
  });

  it('of `fs/writeBlock` may be as long as a block', async () => {
    const file = join(await makeTempDirectory(), 'file');
    const link = await open('a WebSocket');
    link.send(ask('open', 'fs/open', { handleId: 'h', path: `file://${file}`, mode: 'replace' }));
    await link.hears('"id":"open"');
    const block = content.subarray(0, MAX_FILE_BLOCK_BYTES);
    link.send(ask('write', 'fs/writeBlock', { handleId: 'h', offset: 0, chunk: block.toString('base64') }));
    await link.hears('"id":"write"');
    link.send(ask('close', 'fs/close', { handleId: 'h' }));
    await link.hears('"id":"close"');
    expect(block.equals(await readFile(file))).toBe(true);
  });

  it('of `fs/writeFile` is read in pieces where it is long, in every dialect that has it', async () => {
    for (const [hello, toPath] of [
      [EXEC, (path: string) => `file://${path}`],
      [APP, (path: string) => path],
    ] as const) {
      const file = join(await makeTempDirectory(), 'file');
      const link = await open('a WebSocket', openServer(), hello);
      link.send(ask('write', 'fs/writeFile', { path: toPath(file), dataBase64: content.toString('base64') }));
      await link.hears('"id":"write"');
      expect(content.equals(await readFile(file))).toBe(true);
    }
  });

  it('of `command/exec/write` comes to the program as it is, in both dialects that have it', async () => {
    const directory = await makeTempDirectory();
    const delta = content.subarray(0, 200_000).toString('base64');
    const app = await open('a WebSocket', openServer(), APP);
    const command = ['/bin/sh', '-c', `cat > ${directory}/app`];
    app.send(ask('run', 'command/exec', { command, processId: 'p', streamStdin: true, cwd: directory }));
    app.send(ask('write', 'command/exec/write', { processId: 'p', deltaBase64: delta, closeStdin: true }));
    await app.hears('"id":"run"');
    expect((await readFile(`${directory}/app`)).toString('base64')).toBe(delta);
    const v0 = await open('a WebSocket');
    const script = `stty raw -echo; printf ready; head -c 200000 > ${directory}/v0`;
    v0.send(ask('run', 'command/exec', commandParams(['/bin/sh', '-c', script], { tty: true })));
    await v0.hears(Buffer.from('ready').toString('base64'));
    const [, sessionId] = /"id":"run".*?"sessionId":"([^"]*)"/s.exec(v0.received) ?? [];
    v0.send(ask('write', 'command/exec/write', { sessionId, chunk: delta }));
    await v0.hears('command/exec/exited');
    expect((await readFile(`${directory}/v0`)).toString('base64')).toBe(delta);
  });
});
