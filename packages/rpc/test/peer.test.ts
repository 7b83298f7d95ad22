import { RpcError } from '@exec-server/protocol';
import { describe, expect, test } from 'vitest';
import {
  CallTimeoutError,
  ConnectionLostError,
  createMemoryTransportPair,
  type ParseErrorRule,
  Peer,
  type PeerOptions,
  PendingCallLimitError,
} from '../src/index.js';
import { recordTransport } from './support/record-transport.js';

const quiet: PeerOptions = { parseErrors: 'answer', onRequest() {}, onNotification() {} };

/** A peer, and the other end of its connection as plain text. */
function startPeer(options: Partial<PeerOptions> = {}) {
  const [near, far] = createMemoryTransportPair('exec-server near', 'exec-server far');
  const peer = new Peer(near, { ...quiet, ...options });
  return { peer, far, record: recordTransport(far) };
}

describe('calls', () => {
  test('are numbered from 1 and answered in any order', async () => {
    const { peer, far, record } = startPeer();
    const first = peer.request('a', { x: 1 });
    const second = peer.request('b', null);
    expect(await record.until(2)).toEqual([
      '{"id":1,"method":"a","params":{"x":1}}',
      '{"id":2,"method":"b","params":null}',
    ]);
    far.send('{"id":2,"result":"second"}');
    far.send('{"id":1,"result":{"y":2}}');
    expect(await first).toEqual({ y: 2 });
    expect(await second).toBe('second');
  });

  test('reject with the error of the answer', async () => {
    const { peer, far } = startPeer();
    const call = peer.request('a', null);
    far.send('{"id":1,"error":{"code":-32004,"message":"gone","data":{"path":"/x"}}}');
    const failure = await call.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RpcError);
    expect(failure).toMatchObject({ code: -32004, message: 'gone', data: { path: '/x' } });
  });

  test('fail with one typed error, and the reason, when the transport goes', async () => {
    const { peer, far } = startPeer();
    const calls = [peer.request('a', null), peer.request('b', null)];
    far.destroy('cable cut');
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { reason: 'cable cut' } });
    }
    expect(await peer.closed).toBe('cable cut');
    const late = await peer.request('c', null).catch((error: unknown) => error);
    expect(late).toBeInstanceOf(ConnectionLostError);
    expect(late).toMatchObject({ message: 'exec-server transport disconnected: cable cut' });
  });

  test('fail at once when this side closes', async () => {
    const { peer } = startPeer();
    const call = peer.request('a', null);
    peer.close();
    await expect(call).rejects.toThrow(new ConnectionLostError());
    expect(peer.isClosed).toBe(true);
    expect(await peer.closed).toBeUndefined();
  });

  test('time out, and the late answer is ignored', async () => {
    const unexpected: unknown[] = [];
    const { peer, far, record } = startPeer({ onUnexpectedResponse: (id) => unexpected.push(id) });
    await expect(peer.request('slow', null, { timeoutMs: 1 })).rejects.toThrow(CallTimeoutError);
    far.send('{"id":1,"result":"late"}');
    const next = peer.request('next', null);
    await record.until(2);
    far.send('{"id":2,"result":"fresh"}');
    expect(await next).toBe('fresh');
    expect(unexpected).toEqual([]);
  });

  test('can be aborted', async () => {
    const { peer } = startPeer();
    const controller = new AbortController();
    const call = peer.request('a', null, { signal: controller.signal });
    controller.abort(new Error('never mind'));
    await expect(call).rejects.toThrow('never mind');
  });

  test('wait for an answer up to the limit and no further', async () => {
    const { peer } = startPeer();
    const calls = Array.from({ length: 1024 }, () => peer.request('a', null));
    await expect(peer.request('a', null)).rejects.toThrow(PendingCallLimitError);
    peer.destroy('done');
    expect((await Promise.allSettled(calls)).every(({ status }) => status === 'rejected')).toBe(true);
  });

  test('a call that cannot be encoded fails alone', async () => {
    const { peer, record } = startPeer();
    await expect(peer.request('a', { big: 1n })).rejects.toThrow(TypeError);
    peer.notify('still here', {});
    expect(await record.until(1)).toEqual(['{"method":"still here","params":{}}']);
  });
});

describe('requests of the other side', () => {
  test('are answered under their own id, string or number', async () => {
    const { peer, far, record } = startPeer({
      onRequest: ({ id, method }) =>
        method === 'ok'
          ? peer.respond(id, { fine: true })
          : peer.respondError(id, { code: -1, message: 'no' }),
    });
    far.send('{"id":"x","method":"ok"}');
    far.send('{"id":-9223372036854775808,"method":"bad"}');
    expect(await record.until(2)).toEqual([
      '{"id":"x","result":{"fine":true}}',
      '{"error":{"code":-1,"message":"no"},"id":-9223372036854775808}',
    ]);
  });

  test('come with the length of their message', async () => {
    const text = '{"id":1,"method":"m","params":"é"}';
    const { peer, far, record } = startPeer({
      onRequest: ({ id }, length) => peer.respond(id, length),
    });
    far.send(text);
    expect(await record.until(1)).toEqual([`{"id":1,"result":${text.length}}`]);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('bug');
      },
      { code: -32603, message: 'bug' },
    ],
    ['rejects', () => Promise.reject(new Error('late bug')), { code: -32603, message: 'late bug' }],
    [
      'throws no Error',
      () => {
        throw 'text';
      },
      { code: -32603, message: 'text' },
    ],
    [
      'throws an RpcError',
      () => {
        throw new RpcError(-32004, 'gone', { data: 1 });
      },
      { code: -32004, message: 'gone', data: 1 },
    ],
  ])('a handler that %s is answered as an error, and the peer goes on', async (_name, fail, error) => {
    const reported: unknown[] = [];
    const { peer, far, record } = startPeer({
      onRequest: ({ id, method }) => (method === 'fail' ? fail() : peer.respond(id, null)),
      onHandlerError: (thrown) => {
        reported.push(thrown);
        throw new Error('the reporter fails too');
      },
    });
    far.send('{"id":1,"method":"fail"}');
    await record.until(1);
    far.send('{"id":2,"method":"fine"}');
    const answers = (await record.until(2)).map((text) => JSON.parse(text));
    expect(answers).toMatchObject([
      { id: 1, error },
      { id: 2, result: null },
    ]);
    expect(reported).toHaveLength(1);
  });
});

describe('notifications', () => {
  test('arrive in order; a handler that throws is reported and stops nothing', async () => {
    const seen: string[] = [];
    const reported: unknown[] = [];
    const { peer, far } = startPeer({
      onNotification({ method, params }) {
        seen.push(`${method} ${JSON.stringify(params)}`);
        if (method === 'bad') throw new Error('bug');
      },
      onHandlerError: (error) => reported.push(error),
    });
    far.send('{"method":"bad","params":[1]}');
    far.send('{"method":"good"}');
    far.close();
    await peer.closed;
    expect(seen).toEqual(['bad [1]', 'good undefined']);
    expect(reported).toEqual([new Error('bug')]);
  });
});

describe('answers to calls that were never made', () => {
  test.each(['1', '0', '-1', '"a"'])('id %s is reported', async (id) => {
    const unexpected: unknown[] = [];
    const { peer, far } = startPeer({ onUnexpectedResponse: (each) => unexpected.push(each) });
    far.send(`{"id":${id},"result":null}`);
    far.send(`{"id":${id},"error":{"code":1,"message":"m"}}`);
    far.close();
    await peer.closed;
    expect(unexpected).toEqual([JSON.parse(id), JSON.parse(id)]);
  });

  test('are ignored by default', async () => {
    const { peer, far, record } = startPeer();
    far.send('{"id":1,"result":null}');
    peer.notify('alive', {});
    await record.until(1);
    expect(peer.isClosed).toBe(false);
  });
});

describe('messages that cannot be read', () => {
  test('a server answers id -1 and stays', async () => {
    const { peer, far, record } = startPeer({ onRequest: ({ id }) => peer.respond(id, 'ok') });
    far.send('{"id":');
    far.send('[]');
    far.send('{"id":7,"method":"m"}');
    const [first, second, third] = (await record.until(3)).map((text) => JSON.parse(text));
    for (const answer of [first, second]) {
      expect(answer).toMatchObject({ id: -1, error: { code: -32600 } });
      expect(answer.error.message).toMatch(/^failed to parse JSON-RPC message from exec-server near: /);
    }
    expect(third).toEqual({ id: 7, result: 'ok' });
  });

  test('a client closes, and its calls fail with the text', async () => {
    const { peer, far, record } = startPeer({ parseErrors: 'close' });
    const call = peer.request('a', null).catch((error: unknown) => error);
    far.send('nonsense');
    const reason = await peer.closed;
    expect(reason).toMatch(/^failed to parse JSON-RPC message from exec-server near: /);
    expect(await call).toMatchObject({ name: 'ConnectionLostError', reason });
    expect(await record.closed).toBe(`closed with code 1002: ${reason}`);
  });

  test('may cost nothing', async () => {
    const { peer, far, record } = startPeer({
      parseErrors: 'ignore',
      onRequest: ({ id }) => peer.respond(id, 'ok'),
    });
    far.send('nonsense');
    far.send('{"id":1.5,"method":"x"}');
    far.send('{"id":7,"method":"x"}');
    expect(await record.until(1)).toEqual(['{"id":7,"result":"ok"}']);
  });

  test('may cost what it costs by then', async () => {
    let rule: ParseErrorRule = 'ignore';
    const { peer, far } = startPeer({
      parseErrors: () => rule,
      onNotification: () => {
        rule = 'close';
      },
    });
    far.send('nonsense');
    far.send('{"method":"x"}');
    far.send('nonsense');
    expect(await peer.closed).toMatch(/^failed to parse/);
    expect(rule).toBe('close');
  });

  test('who sends garbage and does not read is not read any further until he does', async () => {
    const { peer, far, record } = startPeer({ highWaterBytes: 1000, lowWaterBytes: 100 });
    far.pause();
    for (let sent = 0; sent < 10_000; sent++) far.send('x');
    while (peer.writable) await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(peer.bufferedBytes).toBeLessThan(1000 + 200);
    expect(far.bufferedBytes).toBeGreaterThan(9900);
    far.resume();
    await record.until(10_000);
  });
});

describe('binary messages', () => {
  test('go to their handler, in order with the rest; one that throws is reported and stops nothing', async () => {
    const order: unknown[] = [];
    const errors: unknown[] = [];
    const { peer, far } = startPeer({
      onBinary(frame) {
        order.push(frame);
        if (frame.length === 0) throw new Error('bug');
      },
      onNotification: ({ method }) => order.push(method),
      onHandlerError: (error) => errors.push(error),
    });
    far.sendBinary?.(Uint8Array.of());
    far.send('{"method":"a"}');
    far.sendBinary?.(Uint8Array.of(0xff));
    far.close();
    await peer.closed;
    expect(order).toEqual([Uint8Array.of(), 'a', Uint8Array.of(0xff)]);
    expect(errors).toEqual([new Error('bug')]);
  });

  test('are JSON to a peer without the handler', async () => {
    const methods: string[] = [];
    const { peer, far } = startPeer({ onNotification: ({ method }) => methods.push(method) });
    far.sendBinary?.(new TextEncoder().encode('{"method":"a"}'));
    far.close();
    await peer.closed;
    expect(methods).toEqual(['a']);
  });

  test('sent after the end go nowhere', async () => {
    const frames: Uint8Array[] = [];
    const [near, far] = createMemoryTransportPair();
    const peer = new Peer(near, quiet);
    const record = recordTransport(far, { onBinary: (frame) => frames.push(frame) });
    peer.sendBinary(Uint8Array.of(1));
    peer.close();
    peer.sendBinary(Uint8Array.of(2));
    await record.closed;
    expect(frames).toEqual([Uint8Array.of(1)]);
  });
});

describe('back-pressure', () => {
  const HIGH = 100;
  const LOW = 40;
  const line = (bytes: number) => new TextEncoder().encode(`${'1'.repeat(bytes)}\n`);

  function pausedReader() {
    const started = startPeer({ highWaterBytes: HIGH, lowWaterBytes: LOW });
    started.far.pause();
    return started;
  }

  test.each([
    [HIGH - 1, true],
    [HIGH, false],
    [HIGH + 1, false],
  ])('%i bytes queued to a paused reader: writable is %s', (bytes, writable) => {
    const { peer } = pausedReader();
    peer.sendBytes(line(bytes));
    expect(peer.bufferedBytes).toBe(bytes);
    expect(peer.writable).toBe(writable);
  });

  test.each([
    [LOW - 1, true],
    [LOW, true],
    [LOW + 1, false],
  ])('full, then read down to %i bytes: writable is %s', async (left, writable) => {
    const [near, far] = createMemoryTransportPair();
    const peer = new Peer(near, { ...quiet, highWaterBytes: HIGH, lowWaterBytes: LOW });
    const record = recordTransport(far, { onMessage: () => far.pause() });
    far.pause();
    peer.sendBytes(line(HIGH));
    peer.sendBytes(line(left));
    let released = false;
    void peer.whenWritable().then(() => {
      released = true;
    });
    far.resume();
    await record.until(1);
    await new Promise(setImmediate);
    expect(peer.bufferedBytes).toBe(left);
    expect(peer.writable).toBe(writable);
    expect(released).toBe(writable);
    far.resume();
    await peer.whenWritable();
  });

  test('every way of sending counts', async () => {
    for (const send of [
      (peer: Peer) => peer.notify('n', 'x'.repeat(HIGH)),
      (peer: Peer) => peer.respond(1, 'x'.repeat(HIGH)),
      (peer: Peer) => peer.respondError(1, { code: 1, message: 'x'.repeat(HIGH) }),
      (peer: Peer) => void peer.request('r', 'x'.repeat(HIGH)).catch(() => {}),
      (peer: Peer) => peer.sendBinary(new Uint8Array(HIGH)),
    ]) {
      const { peer } = pausedReader();
      send(peer);
      expect(peer.writable).toBe(false);
      peer.destroy('done');
    }
  });

  test('nobody waits for a connection that has ended', async () => {
    const { peer, far } = pausedReader();
    peer.sendBytes(line(HIGH));
    const waiting = peer.whenWritable();
    far.destroy('gone');
    await waiting;
    peer.sendBytes(line(HIGH));
    expect(peer.writable).toBe(true);
  });

  test('pause stops reading until resume', async () => {
    const seen: string[] = [];
    const { peer, far, record } = startPeer({ onNotification: ({ method }) => seen.push(method) });
    peer.pause();
    far.send('{"method":"held"}');
    await new Promise(setImmediate);
    expect(seen).toEqual([]);
    peer.resume();
    await record.when(() => far.bufferedBytes === 0);
    expect(seen).toEqual(['held']);
  });
});

describe('the end', () => {
  test('is told once, with the reason', async () => {
    const ends: unknown[] = [];
    const { peer, far } = startPeer({
      onClose(reason) {
        ends.push(reason);
        throw new Error('a handler that throws');
      },
    });
    far.destroy('first');
    peer.destroy('second');
    expect(await peer.closed).toBe('second');
    await new Promise(setImmediate);
    expect(ends).toEqual(['second']);
  });

  test('close sends what is queued, with code and reason', async () => {
    const { peer, record } = startPeer();
    peer.notify('last', {});
    peer.close({ code: 1008, reason: 'policy' });
    peer.notify('too late', {});
    expect(await record.closed).toBe('closed with code 1008: policy');
    expect(record.messages).toEqual(['{"method":"last","params":{}}']);
    expect(await peer.closed).toBe('policy');
  });
});
