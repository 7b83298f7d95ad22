import { describe, expect, test } from 'vitest';
import {
  CallTimeoutError,
  ConnectError,
  ConnectionLostError,
  PeerError,
  PendingCallLimitError,
} from '../src/index.js';

describe('errors of this side', () => {
  test.each([
    [new ConnectionLostError(), 'connection_lost', 'exec-server transport disconnected'],
    [new ConnectionLostError('reset'), 'connection_lost', 'exec-server transport disconnected: reset'],
    [new CallTimeoutError('a/b', 5), 'call_timeout', 'exec-server did not answer `a/b` within 5 ms'],
    [
      new PendingCallLimitError(1024),
      'pending_call_limit',
      'exec-server has reached its limit of 1024 pending requests',
    ],
    [
      new ConnectError('ws://h', 'gone'),
      'connect_failed',
      'failed to connect to exec-server at ws://h: gone',
    ],
  ])('%s', (error, code, message) => {
    expect(error).toBeInstanceOf(PeerError);
    expect(error.code).toBe(code);
    expect(error.message).toBe(message);
    expect(error.name).toBe(error.constructor.name);
  });

  test('a refused connection carries status and cause', () => {
    const cause = new Error('x');
    expect(new ConnectError('ws://h', '401', { status: 401, cause })).toMatchObject({ status: 401, cause });
  });
});
