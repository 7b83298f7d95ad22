import type { IncomingMessage } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createExecServer, type ExecServerOptions } from '../../src/exec-server.js';
import { answerMetrics } from '../../src/listen/answer-metrics.js';
import { createCapabilityTokenPolicy, sha256 } from '../../src/listen/capability-token.js';
import type { ListenOptions } from '../../src/listen/listen-options.js';
import { type RawRequest, sendRaw, UPGRADE_HEADERS } from './support.js';

const TOKEN = 'metrics-token';
const auth = createCapabilityTokenPolicy(sha256(TOKEN));

/** Asks a new server for its metrics. */
async function askForMetrics(
  request: RawRequest = {},
  listen: ListenOptions = {},
  options: ExecServerOptions = {},
) {
  const server = createExecServer(options);
  onTestFinished(() => server.close());
  const { url } = await server.listen('ws://127.0.0.1:0', listen);
  return sendRaw(url, { path: '/metrics', ...request });
}

test('are answered on loopback, in the text form, to be kept by nobody', async () => {
  const { status, headers, body } = await askForMetrics();
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(headers['cache-control']).toBe('no-store');
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(body).toContain('\nexec_server_connections 0\n');
  expect(body.endsWith('\n')).toBe(true);
});

test('every line is a comment, or a name with labels and a number', async () => {
  const { body } = await askForMetrics();
  const line = /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [\d.e+-]+)$/;
  expect(body.split('\n').filter((text) => text !== '' && !line.test(text))).toEqual([]);
});

test('HEAD has no body, other methods are not allowed', async () => {
  expect(await askForMetrics({ method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
  const posted = await askForMetrics({ method: 'POST' });
  expect([posted.status, posted.headers.allow]).toEqual([405, 'GET,HEAD']);
});

test('an offer to upgrade changes nothing', async () => {
  expect(await askForMetrics({ headers: UPGRADE_HEADERS })).toMatchObject({
    status: 200,
    body: expect.stringContaining('exec_server_connections') as string,
  });
});

test('are for no web page, whichever may connect, and for no other name', async () => {
  const allowedOrigins = ['https://app.example'];
  const fromPage = { headers: { Origin: 'https://app.example' } };
  expect(await askForMetrics(fromPage, { allowedOrigins })).toMatchObject({ status: 403, body: '' });
  expect((await askForMetrics({ headers: { Host: 'rebound.example' } })).status).toBe(403);
});

test('need the credential where connections need one', async () => {
  const refused = await askForMetrics({}, { auth });
  expect(refused).toMatchObject({ status: 401, body: 'missing websocket bearer token' });
  expect(refused.headers['www-authenticate']).toBe('Bearer');
  const wrong = await askForMetrics({ headers: { Authorization: `Bearer ${TOKEN}x` } }, { auth });
  expect(wrong.status).toBe(401);
  const right = await askForMetrics({ headers: { Authorization: `Bearer ${TOKEN}` } }, { auth });
  expect(right.status).toBe(200);
});

test('without authentication they are for this machine alone', async () => {
  const from = (remoteAddress: string) =>
    ({ socket: { remoteAddress }, headers: {} }) as unknown as IncomingMessage;
  const metrics = () => 'told';
  expect(await answerMetrics(from('192.0.2.1'), { metrics })).toMatchObject({ status: 403 });
  expect(await answerMetrics(from('::ffff:127.0.0.1'), { metrics })).toMatchObject({ status: 200 });
});

test('do not exist where they are switched off', async () => {
  expect((await askForMetrics({}, {}, { metrics: false })).status).toBe(404);
});

test('a credential that cannot be judged costs its connection, not the server', async () => {
  const broken = {
    authenticate: () => Promise.reject(new Error('the directory of users does not answer')),
  };
  const server = createExecServer();
  onTestFinished(() => server.close());
  const { url } = await server.listen('ws://127.0.0.1:0', { auth: broken });
  const headers = { Authorization: 'Bearer x' };
  await expect(sendRaw(url, { path: '/metrics', headers })).rejects.toThrow('connection ended');
  await expect(sendRaw(url, { headers: { ...headers, ...UPGRADE_HEADERS } })).rejects.toThrow(
    'connection ended',
  );
  expect((await sendRaw(url, { path: '/readyz' })).status).toBe(200);
});

test('upgrades that are refused are counted by status', async () => {
  const server = createExecServer();
  onTestFinished(() => server.close());
  const { url } = await server.listen('ws://127.0.0.1:0', { auth });
  await sendRaw(url, { headers: UPGRADE_HEADERS });
  const { body } = await sendRaw(url, {
    path: '/metrics',
    headers: { Authorization: `Bearer ${TOKEN}` },
  });
  expect(body).toContain('exec_server_connections_refused_total{status="401"} 1\n');
});
