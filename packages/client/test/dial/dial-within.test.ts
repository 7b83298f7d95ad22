import { ConnectError, createMemoryTransportPair, type Transport } from '@exec-server/rpc';
import { describe, expect, test } from 'vitest';
import { dialWithin } from '../../src/dial/dial-within.js';

const never = new AbortController().signal;
const pending = () => new Promise<never>(() => {});

test('too late is connect_timeout, and what comes after it is ended', async () => {
  const [near, far] = createMemoryTransportPair();
  let finish = (_transport: Transport) => {};
  const opening = new Promise<Transport>((resolve) => {
    finish = resolve;
  });
  const dialing = dialWithin('here', { connectTimeoutMs: 1 }, never, (signal) => {
    expect(signal.aborted).toBe(false);
    return opening;
  });
  await expect(dialing).rejects.toMatchObject({
    code: 'connect_timeout',
    retryable: true,
    message: 'timed out connecting to exec-server at here after 1 ms',
  });
  const ended = new Promise((resolve) => {
    far.open({ onMessage() {}, onMalformed() {}, onDrain() {}, onClose: resolve });
  });
  finish(near);
  expect(await ended).toBe('the connection came too late');
});

test('an abort gives it up with its reason, and tells the attempt', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  let told: unknown;
  const dialing = dialWithin('here', {}, controller.signal, (signal) => {
    signal.addEventListener('abort', () => {
      told = signal.reason;
    });
    return pending();
  });
  controller.abort(reason);
  await expect(dialing).rejects.toBe(reason);
  expect(told).toBe(reason);
  await expect(dialWithin('here', {}, controller.signal, pending)).rejects.toBe(reason);
});

const withCode = (code: string) => Object.assign(new Error('failed'), { code });

describe('a failure says whether to try again', () => {
  test.each([
    [new ConnectError('here', 'refused', { cause: withCode('ECONNREFUSED') }), true],
    [new ConnectError('here', 'missing', { cause: withCode('ENOENT') }), true],
    [
      new ConnectError('here', 'no program', {
        cause: Object.assign(withCode('ENOENT'), { syscall: 'spawn x' }),
      }),
      false,
    ],
    [new ConnectError('here', 'forbidden', { cause: withCode('EACCES') }), false],
    [new ConnectError('here', 'tls', { cause: withCode('DEPTH_ZERO_SELF_SIGNED_CERT') }), false],
    [new ConnectError('here', 'tls', { cause: withCode('ERR_TLS_CERT_ALTNAME_INVALID') }), false],
    [new ConnectError('here', '400', { status: 400 }), true],
    [new ConnectError('here', '401', { status: 401 }), false],
    [new ConnectError('here', '404', { status: 404 }), false],
    [new ConnectError('here', '408', { status: 408 }), true],
    [new ConnectError('here', '429', { status: 429 }), true],
    [new ConnectError('here', '499', { status: 499 }), false],
    [new ConnectError('here', '500', { status: 500 }), true],
    [new ConnectError('here', 'a browser says nothing'), true],
  ])('%s: %s', async (cause, retryable) => {
    const dialing = dialWithin('here', {}, never, () => Promise.reject(cause));
    await expect(dialing).rejects.toMatchObject({
      code: 'connect_failed',
      message: cause.message,
      retryable,
      cause,
    });
  });

  test('any other error is put into words', async () => {
    const cause = withCode('EMFILE');
    await expect(dialWithin('here', {}, never, () => Promise.reject(cause))).rejects.toMatchObject({
      code: 'connect_failed',
      message: 'failed to connect to exec-server at here: failed',
      cause,
    });
  });
});
