import { once } from 'node:events';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import type { ExecServer } from '@exec-server/server';
import { openWire } from '@exec-server/testing';
import { expect, test } from 'vitest';
import { openServer, openSession, shellParams, untilClosed, untilPrinted } from '../../support/session.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

/** The value of the one sample with these labels; what was never counted is 0. */
function read(server: ExecServer, name: string, labels: Record<string, string> = {}): number {
  const metric = server.metrics().find((candidate) => candidate.name === name);
  if (metric === undefined) throw new Error(`there is no metric ${name}`);
  for (const sample of metric.samples) {
    if (Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
      return 'count' in sample ? sample.count : sample.value;
  }
  return 0;
}

test('processes are counted by how they ended', async () => {
  const server = openServer();
  const wire = await openSession(server);
  const ends = {
    succeeded: 'exit 0',
    failed: 'exit 3',
    signaled: 'kill -9 $$',
    timed_out: 'exec sleep 100',
  };
  for (const [outcome, script] of Object.entries(ends)) {
    const limit = outcome === 'timed_out' ? { timeoutMs: 1 } : {};
    await wire.request('process/start', shellParams(outcome, script, limit));
    await untilClosed(wire, outcome);
  }
  for (const outcome of Object.keys(ends))
    expect([outcome, read(server, 'exec_server_processes_ended_total', { outcome })]).toEqual([outcome, 1]);
  expect(read(server, 'exec_server_processes_started_total')).toBe(4);
  expect(read(server, 'exec_server_processes', { state: 'running' })).toBe(0);
  expect(read(server, 'exec_server_processes', { state: 'closed' })).toBe(4);
});

test('starts that fail are counted by their reason', async () => {
  const server = openServer();
  const wire = await openSession(server);
  await wire.request('process/start', shellParams('p', 'sleep 100'));
  await wire.request('process/start', shellParams('p', 'true'));
  await wire.request('process/start', { ...shellParams('q', ''), argv: ['/does/not/exist'] });
  expect(read(server, 'exec_server_processes_refused_total', { reason: 'id-taken' })).toBe(1);
  expect(read(server, 'exec_server_processes_refused_total', { reason: 'spawn-failed' })).toBe(1);
  expect(read(server, 'exec_server_processes', { state: 'running' })).toBe(1);
});

test('bytes of processes are counted both ways, and what they have not taken is shown', async () => {
  const server = openServer();
  const wire = await openSession(server);
  await wire.request('process/start', shellParams('p', 'cat', { pipeStdin: true }));
  await wire.request('process/write', { processId: 'p', chunk: Buffer.from('12345').toString('base64') });
  await untilPrinted(wire, 'p', '12345');
  expect(read(server, 'exec_server_process_input_bytes_total')).toBe(5);
  expect(read(server, 'exec_server_process_output_bytes_total')).toBe(5);
  await wire.request('process/start', shellParams('deaf', 'sleep 100', { pipeStdin: true }));
  const chunk = Buffer.alloc(256 * 1024).toString('base64');
  await wire.request('process/write', { processId: 'deaf', chunk });
  await wire.request('process/write', { processId: 'deaf', chunk });
  expect(read(server, 'exec_server_stdin_queue_bytes')).toBeGreaterThan(256 * 1024);
});

test('requests are counted by method with their latency and their errors; names of clients become no label', async () => {
  const server = openServer();
  const wire = await openSession(server);
  await wire.request('environment/status', {});
  await wire.request('environment/status', {});
  await wire.request('process/read', { processId: 'missing' });
  await wire.request('made/up', {});
  await wire.request('also/made-up', {});
  const durations = 'exec_server_request_duration_seconds';
  const errors = 'exec_server_request_errors_total';
  const status = { family: 'environment', method: 'environment/status' };
  expect(read(server, durations, status)).toBe(2);
  expect(read(server, durations, { method: 'unknown' })).toBe(2);
  expect(read(server, errors, { method: 'unknown', code: '-32601' })).toBe(2);
  expect(read(server, errors, { family: 'process', method: 'process/read' })).toBe(1);
  expect(read(server, errors, status)).toBe(0);
  expect(JSON.stringify(server.metrics())).not.toContain('made');
});

test('sessions are counted with and without a connection', async () => {
  const server = openServer();
  const wire = await openSession(server);
  expect(read(server, 'exec_server_sessions', { state: 'attached' })).toBe(1);
  await wire.close();
  expect(read(server, 'exec_server_sessions', { state: 'detached' })).toBe(1);
  expect(read(server, 'exec_server_sessions_total')).toBe(1);
});

test('bytes over WebSockets are counted while the connection is open and after', async () => {
  const server = openServer();
  const { url } = await server.listen('ws://127.0.0.1:0');
  const wire = await openWire(url);
  await wire.request('initialize', { clientName: 'test' });
  expect(read(server, 'exec_server_connections')).toBe(1);
  const received = read(server, 'exec_server_received_bytes_total');
  const sent = read(server, 'exec_server_sent_bytes_total');
  expect(Math.min(received, sent)).toBeGreaterThan(50);
  await wire.close();
  await expect.poll(() => read(server, 'exec_server_connections')).toBe(0);
  expect(read(server, 'exec_server_received_bytes_total')).toBeGreaterThanOrEqual(received);
  expect(read(server, 'exec_server_sent_bytes_total')).toBeGreaterThanOrEqual(sent);
  expect(read(server, 'exec_server_connections_total')).toBe(1);
});

test('bytes over a Unix socket are counted while the connection is open and after', async () => {
  const server = openServer();
  const path = join(await makeTempDirectory(), 's');
  await server.listen(`unix://${path}`);
  const request = '{"id":1,"method":"initialize","params":{"clientName":"test"}}\n';
  const socket = createConnection(path);
  socket.write(request);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(read(server, 'exec_server_received_bytes_total')).toBe(request.length);
  expect(read(server, 'exec_server_sent_bytes_total')).toBe(answer.length);
  socket.destroy();
  await expect.poll(() => read(server, 'exec_server_connections')).toBe(0);
  expect(read(server, 'exec_server_received_bytes_total')).toBe(request.length);
});

test('what a client does not read shows as queued', async () => {
  const server = openServer();
  const wire = await openSession(server);
  wire.pause();
  wire.send({ id: 'start', method: 'process/start', params: shellParams('p', 'exec yes') });
  await expect.poll(() => read(server, 'exec_server_outbound_queue_bytes')).toBeGreaterThan(1024 * 1024);
  wire.send({ id: 'status', method: 'environment/info', params: {} });
  await expect.poll(() => read(server, 'exec_server_requests_pending')).toBe(1);
});

test('memory, processor time and start of the server are told', () => {
  const server = openServer();
  expect(read(server, 'process_resident_memory_bytes')).toBeGreaterThan(1024 * 1024);
  expect(read(server, 'process_cpu_seconds_total')).toBeGreaterThan(0);
  expect(read(server, 'process_start_time_seconds')).toBeLessThanOrEqual(Date.now() / 1000);
});

test('nothing is counted where that is switched off', async () => {
  const server = openServer({ metrics: false });
  await openSession(server);
  expect(server.metrics()).toEqual([]);
});
