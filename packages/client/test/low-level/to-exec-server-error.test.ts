import { MalformedMessageError, RpcError } from '@exec-server/protocol';
import {
  CallTimeoutError,
  ConnectError,
  PendingCallLimitError,
  ConnectionLostError as TransportLostError,
} from '@exec-server/rpc';
import { expect, test } from 'vitest';
import {
  CapabilityMissingError,
  ConnectionLostError,
  ExecServerError,
  RejectedError,
  UnexpectedSessionError,
} from '../../src/errors.js';
import { isLoss, toExecServerError } from '../../src/low-level/to-exec-server-error.js';

test.each([
  [new TransportLostError('cut'), {}, 'connection_lost', true],
  [new RpcError(-32000, 'JSON-RPC transport closed'), {}, 'connection_lost', true],
  [new CallTimeoutError('process/wait', 5), {}, 'request_timeout', true],
  [new CallTimeoutError('initialize', 5), {}, 'initialize_timeout', true],
  [new MalformedMessageError('nonsense'), { method: 'process/read' }, 'protocol', false],
  [new UnexpectedSessionError('x'), {}, 'session_expired', false],
  [new ConnectError('ws://x', 'refused'), {}, 'connect_failed', true],
  [new ConnectError('ws://x', 'forbidden', { status: 403 }), {}, 'connect_failed', false],
  [new PendingCallLimitError(1024), {}, 'usage', true],
  [new RpcError(-32600, 'unknown process id p'), { method: 'process/read' }, 'process_unknown', false],
  [
    new RpcError(-32600, 'unknown process id p'),
    { method: 'process/read', processWasKnown: true },
    'process_expired',
    false,
  ],
  [
    new RpcError(-32600, 'unknown process id p', { data: { code: 'process_expired' } }),
    { method: 'process/read' },
    'process_expired',
    false,
  ],
  [
    new RpcError(-32603, 'No such file or directory (os error 2)'),
    { method: 'process/start' },
    'spawn_failed',
    false,
  ],
  [
    new RpcError(-32603, 'Argument list too long (os error 7)'),
    { method: 'process/start' },
    'argument_too_long',
    false,
  ],
  [
    new RpcError(-32603, 'No such file or directory (os error 2)'),
    { method: 'fs/readFile' },
    'rejected',
    false,
  ],
  [
    new RpcError(-32602, 'sandbox intent cannot be enforced on this executor: x'),
    { method: 'process/start' },
    'sandbox_denied',
    false,
  ],
  [new RpcError(-32600, 'unknown session id s'), { method: 'initialize' }, 'session_expired', false],
  [new RpcError(-32001, 'overloaded'), {}, 'rejected', true],
  [new RpcError(-32010, 'session s is already attached'), {}, 'rejected', true],
  [new RpcError(-32601, 'unknown'), { method: 'process/wait' }, 'capability_missing', false],
  [new RpcError(-32601, 'unknown'), { method: 'process/read' }, 'rejected', false],
] as const)('%s %j is %s, retryable %s', (error, context, code, retryable) => {
  const mapped = toExecServerError(error, context);
  expect(mapped).toBeInstanceOf(ExecServerError);
  expect(mapped).toMatchObject({ code, retryable, cause: error });
});

test('what the server said is kept', () => {
  const mapped = toExecServerError(new RpcError(-32602, 'bad', { data: { why: 1 } }));
  expect(mapped).toBeInstanceOf(RejectedError);
  expect(mapped).toMatchObject({ rpcCode: -32602, message: 'bad', data: { why: 1 } });
});

test('a lost connection is told in the words of the wire', () => {
  expect(toExecServerError(new TransportLostError('cut'))).toBeInstanceOf(ConnectionLostError);
  expect(toExecServerError(new TransportLostError('cut'))).toMatchObject({
    message: 'exec-server transport disconnected: cut',
  });
});

test('a method that the server does not know is a capability that it lacks', () => {
  const mapped = toExecServerError(new RpcError(-32601, 'no'), { method: 'process/resize' });
  expect(mapped).toBeInstanceOf(CapabilityMissingError);
});

test('reasons of signals and errors of this package stay as they are', () => {
  const reason = new DOMException('stop', 'AbortError');
  const own = new ExecServerError('usage', 'x');
  expect([toExecServerError(reason), toExecServerError(own)]).toEqual([reason, own]);
});

test('-32000 alone is no loss', () => {
  expect(isLoss(new RpcError(-32000, 'something else'))).toBe(false);
});
