import type { ExecServer } from '@exec-server/server';
import { openWire, type Wire } from '@exec-server/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createCapabilityTokenPolicy, sha256 } from '../../../src/listen/capability-token.js';
import { createSignedTokenPolicy, METRICS_SCOPE } from '../../../src/listen/signed-token.js';
import { sendRaw } from '../../listen/support.js';
import { openServer, openSession, shellParams } from '../../support/session.js';
import { signToken } from '../../support/sign-token.js';

const SECRET = Buffer.alloc(40, 'x');

async function connect(url: string, token: string): Promise<Wire> {
  const wire = await openWire(url, { headers: { authorization: `Bearer ${token}` } });
  onTestFinished(() => wire[Symbol.dispose]());
  await wire.request('initialize', { clientName: 'test' });
  wire.send({ method: 'initialized' });
  return wire;
}

async function readMetrics(url: string, token: string): Promise<string[]> {
  const { status, body } = await sendRaw(url, {
    path: '/metrics',
    headers: { Authorization: `Bearer ${token}` },
  });
  expect(status).toBe(200);
  return body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

/** Everything that somebody can learn who holds nothing, on a server that others use. */
const OF_NOBODY = [
  'exec_server_connections 0',
  'exec_server_sessions{state="attached"} 0',
  'exec_server_sessions{state="detached"} 0',
  'exec_server_processes{state="running"} 0',
  'exec_server_processes{state="closed"} 0',
  'exec_server_requests_pending 0',
  'exec_server_outbound_queue_bytes 0',
  'exec_server_stdin_queue_bytes 0',
  'exec_server_stdin_writes_waiting 0',
  'exec_server_closed_output_bytes 0',
  expect.stringMatching(/^process_start_time_seconds \d/) as string,
];

/** A server that Ada, and somebody without a token, keep busy in every way that is counted. */
async function openBusyServer(): Promise<{ readonly server: ExecServer; readonly url: string }> {
  const server = openServer();
  const auth = createSignedTokenPolicy({ secret: SECRET });
  const { url } = await server.listen('ws://127.0.0.1:0', { auth });
  const ada = await connect(url, signToken(SECRET, { sub: 'ada' }));
  const anybody = await openSession(server);
  for (const wire of [ada, anybody]) {
    await wire.request('process/start', shellParams('ends', 'echo some output; exit 3'));
    await wire.next(({ method }) => method === 'process/closed', 'the end of a process');
    await wire.request('process/start', shellParams('reads', 'exec sleep 60', { pipeStdin: true }));
    const chunk = Buffer.alloc(200_000).toString('base64');
    await wire.request('process/write', { processId: 'reads', chunk });
    await wire.request('no/such/method');
  }
  await (await connect(url, signToken(SECRET, { sub: 'ada' }))).close();
  return { server, url };
}

test('a principal that holds nothing learns nothing about the others', async () => {
  const { url } = await openBusyServer();
  for (const sub of ['bob', 'anonymous', undefined])
    expect(await readMetrics(url, signToken(SECRET, { sub }))).toEqual(OF_NOBODY);
});

test('a principal learns what is its own', async () => {
  const { url } = await openBusyServer();
  const told = await readMetrics(url, signToken(SECRET, { sub: 'ada' }));
  expect(told).toEqual(
    expect.arrayContaining([
      'exec_server_connections 1',
      'exec_server_sessions{state="attached"} 1',
      'exec_server_sessions{state="detached"} 1',
      'exec_server_processes{state="running"} 1',
      'exec_server_processes{state="closed"} 1',
      expect.stringMatching(/^exec_server_closed_output_bytes [1-9]/),
      expect.stringMatching(/^exec_server_stdin_queue_bytes [1-9]/),
    ]),
  );
  expect(told).toHaveLength(OF_NOBODY.length);
});

test('whoever has the scope of metrics, or the one token there is, learns everything', async () => {
  const { server, url } = await openBusyServer();
  const auth = createCapabilityTokenPolicy(sha256('held'));
  const { url: held } = await server.listen('ws://127.0.0.1:0', { auth });
  const anyone = await server.listen('ws://127.0.0.1:0');
  const everything = expect.arrayContaining([
    'exec_server_connections 2',
    'exec_server_sessions_total 3',
    'exec_server_processes{state="running"} 2',
    'exec_server_processes_ended_total{outcome="failed"} 2',
    expect.stringMatching(/^process_resident_memory_bytes \d/),
  ]);
  expect(await readMetrics(url, signToken(SECRET, { sub: 'bob', scope: METRICS_SCOPE }))).toEqual(everything);
  expect(await readMetrics(held, 'held')).toEqual(everything);
  expect(await readMetrics(anyone.url, '')).toEqual(everything);
});

test('what a principal learns follows its processes', async () => {
  const server = openServer();
  const { url } = await server.listen('ws://127.0.0.1:0', {
    auth: createSignedTokenPolicy({ secret: SECRET }),
  });
  const token = signToken(SECRET, { sub: 'ada' });
  const wire = await connect(url, token);
  await wire.request('process/start', shellParams('p', 'exec sleep 60'));
  expect(await readMetrics(url, token)).toContain('exec_server_processes{state="running"} 1');
  await wire.request('process/terminate', { processId: 'p' });
  await wire.next(({ method }) => method === 'process/closed', 'the end of the process');
  expect(await readMetrics(url, token)).toEqual(
    expect.arrayContaining([
      'exec_server_processes{state="running"} 0',
      'exec_server_processes{state="closed"} 1',
    ]),
  );
});
