import { MAX_HTTP_REDIRECTS } from '@exec-server/protocol';
import { describe, expect, it } from 'vitest';
import { HttpClient } from '../../src/http/http-client.js';
import { HttpError } from '../../src/http/http-error.js';
import { prepareRequest } from '../../src/http/prepare-request.js';
import { bodyText } from '../support/body-text.js';
import { pathOf, redirect, respond, startOrigin } from '../support/origin.js';

function send(url: string, { env = {}, followRedirects = true, signal = new AbortController().signal } = {}) {
  const request = prepareRequest({ method: 'GET', url, headers: [], body: Buffer.alloc(0) }, {});
  return new HttpClient(env).send(request, { followRedirects, signal });
}

/** Counts down its path: `/3` leads to `/2`, and so on until `/0`. */
function startCountdown() {
  return startOrigin((request, socket) => {
    const left = Number(pathOf(request).slice(1));
    if (left === 0) respond(socket, 'end');
    else redirect(socket, 302, `/${left - 1}`);
  });
}

describe('redirects', () => {
  it.each([MAX_HTTP_REDIRECTS - 1, MAX_HTTP_REDIRECTS])('%d are followed', async (count) => {
    const origin = await startCountdown();
    expect((await send(origin.url(`/${count}`))).status).toBe(200);
    expect(origin.requests).toHaveLength(count + 1);
  });

  it('one more is an error', async () => {
    const origin = await startCountdown();
    await expect(send(origin.url(`/${MAX_HTTP_REDIRECTS + 1}`))).rejects.toThrow(
      expect.objectContaining({ failure: 'no-response', message: 'too many redirects' }),
    );
    expect(origin.requests).toHaveLength(MAX_HTTP_REDIRECTS + 1);
    await origin.untilAlone();
  });

  it('in a circle are an error', async () => {
    const origin = await startOrigin((_request, socket) => redirect(socket, 307, '/'));
    await expect(send(origin.url())).rejects.toThrow('too many redirects');
  });

  it('are left to the caller if wished', async () => {
    const origin = await startCountdown();
    const { status, headers } = await send(origin.url('/3'), { followRedirects: false });
    expect([status, headers[0]]).toEqual([302, ['location', '/2']]);
  });

  it('whose location is not ASCII are not followed', async () => {
    const origin = await startOrigin((_request, socket) => redirect(socket, 302, '/caf\u00e9'));
    expect((await send(origin.url())).status).toBe(302);
  });

  it('say where they come from', async () => {
    const origin = await startCountdown();
    await send(origin.url('/1#fragment'));
    expect(origin.requests[1]).toBe(
      `GET /0 HTTP/1.1\r\nreferer: ${origin.url('/1')}\r\naccept: */*\r\nhost: 127.0.0.1:${origin.port}\r\n\r\n`,
    );
  });
});

describe('failures', () => {
  it('name the URL without its user', async () => {
    const origin = await startOrigin(() => {});
    const { port } = origin;
    await origin.close().catch(() => {});
    await expect(send(`http://u:p@127.0.0.1:${port}/a?b#c`)).rejects.toThrow(
      expect.objectContaining({
        failure: 'no-response',
        message: `error sending request for url (http://127.0.0.1:${port}/a?b#c)`,
      }),
    );
  });

  it('name the URL that a redirect led to', async () => {
    const origin = await startOrigin((request, socket) =>
      pathOf(request) === '/' ? redirect(socket, 302, '/dies') : socket.destroy(),
    );
    await expect(send(origin.url())).rejects.toThrow(
      `error sending request for url (${origin.url('/dies')})`,
    );
  });

  it('of names that do not exist', async () => {
    await expect(send('http://nonexistent.invalid/')).rejects.toThrow(
      'error sending request for url (http://nonexistent.invalid/)',
    );
  });
});

describe('an abort', () => {
  it('ends the wait for a response with the reason if it is one for callers', async () => {
    const origin = await startOrigin(() => {});
    const abort = new AbortController();
    const response = send(origin.url(), { signal: abort.signal });
    await origin.untilAsked(1);
    abort.abort(new HttpError('cancelled', 'request cancelled'));
    await expect(response).rejects.toThrow('request cancelled');
    await origin.untilAlone();
  });

  it('ends the body', async () => {
    const origin = await startOrigin((_request, socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart'),
    );
    const abort = new AbortController();
    const { body } = await send(origin.url(), { signal: abort.signal });
    const reading = bodyText(body);
    abort.abort(new Error('enough'));
    await expect(reading).rejects.toThrow();
    await origin.untilAlone();
  });

  it('before the start keeps the request from being sent', async () => {
    const origin = await startOrigin((_request, socket) => respond(socket));
    await expect(send(origin.url(), { signal: AbortSignal.abort() })).rejects.toThrow(
      'error sending request',
    );
    expect(origin.accepted).toBe(0);
  });
});
