import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StreamedBody } from '../../src/http/http-body.js';
import { HttpClient } from '../../src/http/http-client.js';
import { DIRECT_BODY_BYTES, PlainConnection } from '../../src/http/plain-connection.js';
import { prepareRequest } from '../../src/http/prepare-request.js';
import { bodyText } from '../support/body-text.js';
import { startOrigin } from '../support/origin.js';

const MEBIBYTE = 1024 * 1024;
/** With what could be taken for the end of a head. */
const LONG = `\r\n\r\n\n\n${randomBytes(DIRECT_BODY_BYTES).toString('latin1')}`;
/** One read and a little. */
const LONGER = randomBytes(264 * 1024).toString('latin1');
const HEAD = `HTTP/1.1 200 OK\r\ncontent-length: ${LONG.length}\r\n\r\n`;

async function ask(answer: (socket: Socket) => void, method = 'GET', signal?: AbortSignal) {
  const origin = await startOrigin((_request, socket) => answer(socket));
  const request = prepareRequest({ method, url: origin.url(), headers: [], body: Buffer.alloc(0) }, {});
  const response = await new HttpClient({}).send(request, {
    followRedirects: false,
    signal: signal ?? new AbortController().signal,
  });
  return { ...response, origin, isDirect: !(response.body instanceof StreamedBody) };
}

/** A connection and its other end. */
async function connectPlain() {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const { port } = server.address() as AddressInfo;
  const connection = new PlainConnection({ host: '127.0.0.1', port });
  const [origin] = (await accepted) as [Socket];
  return { connection, origin };
}

const writeAll = (text: string) => (socket: Socket) => socket.write(text, 'latin1');

describe('a body past the parser', () => {
  it.each([
    [DIRECT_BODY_BYTES - 1, false],
    [DIRECT_BODY_BYTES, true],
    [DIRECT_BODY_BYTES + 1, true],
  ])('of %d bytes: %s', async (length, expected) => {
    const content = randomBytes(length).toString('latin1');
    const { body, isDirect, origin } = await ask(
      writeAll(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${content}`),
    );
    expect(await bodyText(body)).toBe(content);
    expect(isDirect).toBe(expected);
    await origin.untilAlone();
  });

  it.each([
    ['hints', `HTTP/1.1 103 Early Hints\r\n\r\n${HEAD}`],
    ['hints twice', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${HEAD}`],
    ['empty lines', `\r\n\r\n${HEAD}`],
  ])('comes after %s', async (_, head) => {
    const { body, isDirect } = await ask(writeAll(head + LONG));
    expect(await bodyText(body)).toBe(LONG);
    expect(isDirect).toBe(true);
  });

  it.each([1, 2, 3, 4, 5])(
    'begins right behind a head whose last %d bytes come by themselves',
    async (last) => {
      const { connection, origin } = await connectPlain();
      const [most, rest] = [HEAD.slice(0, -last), HEAD.slice(-last)];
      origin.write(most);
      expect(String((await once(connection, 'data'))[0])).toBe(most);
      origin.write(rest + LONG, 'latin1');
      expect(String((await once(connection, 'data'))[0])).toBe(rest);
      expect(await bodyText(connection.takeBody(LONG.length)!)).toBe(LONG);
      origin.destroy();
    },
  );

  it('is whole, or the response refused, when lines end without a carriage return', async () => {
    const asked = ask(writeAll(HEAD.replaceAll('\r', '') + LONG)).then(({ body }) => bodyText(body));
    const text = await asked.catch(() => 'refused');
    expect([LONG, 'refused']).toContain(text);
  });

  it('ends with its length, whatever follows', async () => {
    const { body } = await ask(writeAll(`${HEAD}${LONG}HTTP/1.1 200 OK\r\n\r\n`));
    expect(await bodyText(body)).toBe(LONG);
  });

  it.each([
    ['ends', (socket: Socket) => socket.end()],
    ['is reset', (socket: Socket) => socket.resetAndDestroy()],
  ])('breaks off when the connection %s', async (_, leave) => {
    const { body, isDirect } = await ask((socket) =>
      socket.write(HEAD + LONG.slice(1), 'latin1', () => leave(socket)),
    );
    expect(isDirect).toBe(true);
    await expect(bodyText(body)).rejects.toThrow();
  });

  it('breaks off when the request is ended before anybody reads', async () => {
    const abort = new AbortController();
    const { body, origin } = await ask(writeAll(HEAD), 'GET', abort.signal);
    abort.abort(new Error('enough'));
    await origin.untilAlone();
    await expect(bodyText(body)).rejects.toThrow();
  });

  it('ends with what the reader throws', async () => {
    const { body, origin } = await ask(writeAll(HEAD + LONG));
    const reading = body.read(() => {
      throw new Error('enough');
    });
    await expect(reading).rejects.toThrow('enough');
    await origin.untilAlone();
  });

  it('has the sender wait while it is paused', async () => {
    const length = 64 * MEBIBYTE;
    let left = length;
    let whenFull: (() => void) | undefined;
    const full = new Promise<void>((resolve) => {
      whenFull = resolve;
    });
    const { body } = await ask((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`);
      const write = () => {
        while (left > 0) {
          left -= MEBIBYTE;
          if (socket.write(Buffer.alloc(MEBIBYTE))) continue;
          socket.once('drain', write);
          whenFull?.();
          return;
        }
      };
      write();
    });
    let received = 0;
    let paused = true;
    const reading = body.read((bytes) => {
      received += bytes.length;
      if (paused) body.pause();
    });
    await full;
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(received).toBeLessThan(MEBIBYTE);
    paused = false;
    body.resume();
    await reading;
    expect(received).toBe(length);
  });

  it('is not mixed up with that of another connection', async () => {
    const contents = [1, 2, 3].map((byte) => Buffer.alloc(4 * MEBIBYTE, byte).toString('latin1'));
    const bodies = await Promise.all(
      contents.map((content) =>
        ask(writeAll(`HTTP/1.1 200 OK\r\ncontent-length: ${content.length}\r\n\r\n${content}`)),
      ),
    );
    const texts = await Promise.all(bodies.map(({ body }) => bodyText(body)));
    expect(texts.map((text, index) => text === contents[index])).toEqual([true, true, true]);
  });
});

describe('the parser reads', () => {
  it.each([
    ['HEAD', '200 OK'],
    ['GET', '204 No Content'],
    ['GET', '304 Not Modified'],
  ])('the answer to %s with %s, which has no body', async (method, status) => {
    const head = `HTTP/1.1 ${status}\r\ncontent-length: ${LONG.length}\r\n\r\n`;
    const { body, isDirect } = await ask((socket) => socket.end(head), method);
    expect([await bodyText(body), isDirect]).toEqual(['', false]);
  });

  it.each([
    [
      'in chunks',
      `transfer-encoding: chunked\r\n\r\n${LONGER.length.toString(16)}\r\n${LONGER}\r\n0\r\n\r\n`,
    ],
    ['up to the end', `\r\n${LONGER}`],
  ])('a body %s, all of it, though the connection is over before it is read', async (_, rest) => {
    const { body, isDirect, origin } = await ask((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\n${rest}`, 'latin1'),
    );
    expect(isDirect).toBe(false);
    expect(await bodyText(body)).toBe(LONGER);
    await origin.untilAlone();
  });

  it('what came before the end, also when it reads later', async () => {
    const { connection, origin } = await connectPlain();
    connection.passBodyOn();
    origin.resume();
    origin.end('last words');
    await once(origin, 'close');
    const ended = once(connection, 'end');
    expect(String((await once(connection, 'data'))[0])).toBe('last words');
    await ended;
  });
});
