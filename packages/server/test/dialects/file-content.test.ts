import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { nativeToPathUri } from '@exec-server/protocol';
import { openWire, type Wire } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { requireSandbox, rule, sandboxOf } from '../support/sandbox.js';
import { openServer } from '../support/session.js';
import { makeTempDirectory } from '../support/temp-directory.js';

/** Long enough to be decoded from the bytes of the message, with every byte in it. */
const CONTENT = Buffer.from(Array.from({ length: 1_000_003 }, (_, n) => (n * 7) % 256));
const LONG = CONTENT.toString('base64');

async function openWebSocket(hello: object): Promise<Wire> {
  const server = openServer();
  const { url } = await server.listen('ws://127.0.0.1:0');
  const wire = await openWire(url);
  onTestFinished(() => wire[Symbol.dispose]());
  await wire.request('initialize', hello);
  wire.send({ method: 'initialized' });
  return wire;
}

const EXEC = { clientName: 'test' };
const APP = { clientInfo: { name: 'test', version: '1' }, capabilities: { experimentalApi: true } };

describe('a long file over a real connection', () => {
  it.each([{}, { atomic: true }, { followSymlinks: false }])('is written, with %j', async (options) => {
    const file = join(await makeTempDirectory(), 'f');
    const wire = await openWebSocket(EXEC);
    const write = (dataBase64: string) =>
      wire.request('fs/writeFile', { path: nativeToPathUri(file), dataBase64, ...options });
    expect(await write(LONG)).toMatchObject({ result: {} });
    expect(readFileSync(file).equals(CONTENT)).toBe(true);
    // Shorter, and in memory that was used for the one before.
    const shorter = Buffer.alloc(600_000, 'x');
    expect(await write(shorter.toString('base64'))).toMatchObject({ result: {} });
    expect(readFileSync(file).equals(shorter)).toBe(true);
  });

  it('several at once are not mixed up', async () => {
    const directory = await makeTempDirectory();
    const wire = await openWebSocket(EXEC);
    const contents = Array.from({ length: 12 }, (_, n) => Buffer.alloc(300_000 + n * 50_000, n));
    await Promise.all(
      contents.map((content, n) =>
        wire.request('fs/writeFile', {
          path: nativeToPathUri(join(directory, String(n))),
          dataBase64: content.toString('base64'),
        }),
      ),
    );
    for (const [n, content] of contents.entries())
      expect(readFileSync(join(directory, String(n))).equals(content)).toBe(true);
  });

  it('several are read at once, and again, each as it is', async () => {
    const directory = await makeTempDirectory();
    const wire = await openWebSocket(EXEC);
    const contents = Array.from({ length: 8 }, (_, n) => Buffer.alloc(200_000 + n * 100_001, n));
    for (const [n, content] of contents.entries()) writeFileSync(join(directory, String(n)), content);
    const read = async (n: number) => {
      const answer = await wire.request('fs/readFile', { path: nativeToPathUri(join(directory, String(n))) });
      return (answer.result as { dataBase64: string }).dataBase64;
    };
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(contents.map((_, n) => read(n)));
      for (const [n, content] of contents.entries())
        expect(answers[n] === content.toString('base64')).toBe(true);
    }
  });

  it('is refused in the same words as a short one', async () => {
    const file = join(await makeTempDirectory(), 'f');
    writeFileSync(file, 'before');
    const wire = await openWebSocket(EXEC);
    const answer = await wire.request('fs/writeFile', {
      path: nativeToPathUri(file),
      dataBase64: `${LONG.slice(0, -4)}A-==`,
    });
    expect(answer.error).toMatchObject({
      code: -32600,
      message: `fs/writeFile requires valid base64 dataBase64: Invalid symbol 45, offset ${LONG.length - 3}.`,
    });
    expect(readFileSync(file, 'utf8')).toBe('before');
  });

  it('is written in the app dialect', async () => {
    const file = join(await makeTempDirectory(), 'f');
    const wire = await openWebSocket(APP);
    expect(await wire.request('fs/writeFile', { path: file, dataBase64: LONG })).toMatchObject({
      result: {},
    });
    expect(readFileSync(file).equals(CONTENT)).toBe(true);
  });

  it('is written in a sandbox', async (test) => {
    await requireSandbox(test);
    const directory = await makeTempDirectory();
    const file = join(directory, 'f');
    const wire = await openWebSocket(EXEC);
    const sandbox = sandboxOf([rule(directory, 'write')]);
    const params = { path: nativeToPathUri(file), dataBase64: LONG, sandbox };
    expect(await wire.request('fs/writeFile', params)).toMatchObject({ result: {} });
    expect(readFileSync(file).equals(CONTENT)).toBe(true);
  });

  it('is written over lines', async () => {
    const directory = await makeTempDirectory();
    const file = join(directory, 'f');
    const server = openServer();
    await server.listen(`unix://${join(directory, 'socket')}`);
    const socket = connect(join(directory, 'socket'));
    onTestFinished(() => void socket.destroy());
    const answered = new Promise<string>((resolve) => {
      let text = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.includes('"id":2')) resolve(text);
      });
    });
    const lines = [
      { id: 1, method: 'initialize', params: EXEC },
      { method: 'initialized' },
      { id: 2, method: 'fs/writeFile', params: { path: nativeToPathUri(file), dataBase64: LONG } },
    ];
    socket.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    expect(await answered).toContain('{"id":2,"result":{}}');
    expect(readFileSync(file).equals(CONTENT)).toBe(true);
  });
});
