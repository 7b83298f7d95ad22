import { expect, test } from 'vitest';
import { ConnectionLostError, ExecServerError, RejectedError } from '../../src/errors.js';
import { askedWaitMs, isWorthAnotherAttempt, mayBeResent } from '../../src/low-level/call-rules.js';

test('calls that change nothing may be sent twice', () => {
  expect(mayBeResent('process/read', { processId: 'p' })).toBe(true);
  expect(mayBeResent('fs/getMetadata', { path: 'file:///tmp' })).toBe(true);
  expect(mayBeResent('fs/remove', { path: 'file:///tmp/x' })).toBe(false);
  expect(mayBeResent('process/signal', { processId: 'p', signal: 'interrupt' })).toBe(false);
});

test('writes may when they have an id', () => {
  expect(mayBeResent('process/write', { processId: 'p', chunk: '', writeId: '1' })).toBe(true);
  expect(mayBeResent('process/write', { processId: 'p', chunk: '' })).toBe(false);
});

test('time that the server was asked to wait is no time to answer', () => {
  expect(askedWaitMs('process/read', { processId: 'p', waitMs: 5 })).toBe(5);
  expect(askedWaitMs('process/read', { processId: 'p' })).toBe(0);
  expect(askedWaitMs('process/wait', { processId: 'p' })).toBe(Number.POSITIVE_INFINITY);
  expect(askedWaitMs('process/wait', { processId: 'p', timeoutMs: 7 })).toBe(7);
  expect(askedWaitMs('net/waitForPort', { port: 1, timeoutMs: 9 })).toBe(9);
  expect(askedWaitMs('environment/status', null)).toBe(0);
});

test.each([
  [new ConnectionLostError('gone'), true],
  [new ExecServerError('connect_failed', 'refused', { retryable: true }), true],
  [new ExecServerError('connect_failed', 'forbidden'), false],
  [new ExecServerError('connect_timeout', 'late'), true],
  [new ExecServerError('initialize_timeout', 'late'), true],
  [new RejectedError('attached', -32010), true],
  [new RejectedError('unknown session id x', -32600, { code: 'session_expired' }), false],
  [new ExecServerError('session_expired', 'gone'), false],
  [new ExecServerError('protocol', 'nonsense'), false],
  [new Error('whatever'), false],
])('%s: another attempt %s', (error, worth) => {
  expect(isWorthAnotherAttempt(error)).toBe(worth);
});
