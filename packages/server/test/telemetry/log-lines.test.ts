import { openInProcessWire } from '@exec-server/testing';
import { expect, test } from 'vitest';
import { createLogger } from '../../src/telemetry/create-logger.js';
import { openServer, openSession, shellParams, untilClosed } from '../support/session.js';
import { openV0 } from '../support/v0-client.js';

/** A server that logs everything, and its lines so far. */
function openLoggingServer() {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>);
  const logger = createLogger({ level: 'debug', format: 'json', destination: { write } });
  const server = openServer({ logger, detachedSessionMs: 0 });
  const find = (msg: string) => lines.find((line) => line.msg === msg);
  return { server, find };
}

test('lines name the connection, the session and the process that they are about', async () => {
  const { server, find } = openLoggingServer();
  const wire = await openSession(server);
  await wire.request('process/start', shellParams('p', 'exit 3'));
  await untilClosed(wire, 'p');
  await wire.request('process/start', { ...shellParams('q', ''), argv: [] });
  await wire.close();
  await expect.poll(() => find('session ended')).toBeDefined();
  const { sessionId } = wire;
  expect(find('connected')).toMatchObject({
    level: 'debug',
    connectionId: 1,
    principal: { kind: 'anonymous' },
  });
  expect(find('session attached')).toMatchObject({ connectionId: 1, sessionId, clientName: 'test' });
  expect(find('process started')).toMatchObject({
    sessionId,
    processId: 'p',
    pid: expect.any(Number) as number,
  });
  expect(find('process ended')).toMatchObject({ sessionId, processId: 'p', outcome: 'exited', exitCode: 3 });
  expect(find('process not started')).toMatchObject({ sessionId, processId: 'q', failure: 'empty-argv' });
  expect(find('disconnected')).toMatchObject({ connectionId: 1 });
  expect(find('session detached')).toMatchObject({ sessionId });
  expect(find('session ended')).toMatchObject({ sessionId });
});

test('a connection that ends over what cannot be read is worth a line, without what it was', async () => {
  const { server, find } = openLoggingServer();
  const { wire } = await openV0(server);
  await wire.request('command/exec/terminate', { sessionId: 'session-1' });
  wire.sendRaw('no json, but a secret');
  await wire.closed;
  expect(find('connection ended')).toMatchObject({
    level: 'warn',
    connectionId: 1,
    reason: 'a message cannot be read',
  });
  expect(JSON.stringify(find('disconnected'))).not.toContain('secret');
});

test('a traceparent that cannot be read is logged without what it said', async () => {
  const { server, find } = openLoggingServer();
  const wire = openInProcessWire(server);
  const trace = { traceparent: 'secret' };
  wire.send({ id: 'i', method: 'initialize', params: { clientName: 'test' }, trace });
  await wire.next(({ id }) => id === 'i', 'an answer');
  const line = find('a traceparent that cannot be read is ignored');
  expect(line).toMatchObject({ level: 'debug', connectionId: 1 });
  expect(JSON.stringify(line)).not.toContain('secret');
});
