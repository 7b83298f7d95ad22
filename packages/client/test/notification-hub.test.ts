import { describe, expect, test } from 'vitest';
import { NotificationHub, type ServerNotification } from '../src/notification-hub.js';

const closedEvent = (seq: number): ServerNotification => ({
  method: 'process/closed',
  params: { processId: 'p', seq },
});

describe('NotificationHub', () => {
  test('holds until it is released, then delivers in order', () => {
    const each: string[] = [];
    const hub = new NotificationHub((notification) => each.push(notification.method));
    const seqs: number[] = [];
    hub.publish(closedEvent(1));
    hub.on('process/closed', ({ seq }) => seqs.push(seq));
    hub.publish(closedEvent(2));
    expect([seqs, hub.heldCount]).toEqual([[], 2]);
    hub.release();
    hub.publish(closedEvent(3));
    expect([seqs, hub.heldCount]).toEqual([[1, 2, 3], 0]);
    expect(each).toHaveLength(3);
  });

  test('tells only those who listen to the name, until they stop', () => {
    const hub = new NotificationHub(undefined);
    hub.release();
    const seen: string[] = [];
    const listener = ({ seq }: { seq: number }) => seen.push(`twice ${seq}`);
    const stop = hub.on('process/closed', listener);
    hub.on('process/closed', listener);
    hub.on('process/exited', () => seen.push('never'));
    hub.publish(closedEvent(1));
    stop();
    stop();
    hub.publish(closedEvent(2));
    expect(seen).toEqual(['twice 1', 'twice 1', 'twice 2']);
  });

  test('a listener may stop itself or others while being told', () => {
    const hub = new NotificationHub(undefined);
    hub.release();
    const seen: number[] = [];
    const stop = hub.on('process/closed', ({ seq }) => {
      seen.push(seq);
      stop();
    });
    hub.publish(closedEvent(1));
    hub.publish(closedEvent(2));
    expect(seen).toEqual([1]);
  });

  test('output comes as bytes from notifications and frames alike, in order with the rest', () => {
    const order: unknown[] = [];
    const hub = new NotificationHub(({ method }) => order.push(method));
    const listener = (output: unknown) => order.push(output);
    const stop = hub.onOutput(listener);
    hub.onOutput(listener);
    const frame = {
      processId: 'p',
      sessionId: 's',
      seq: 2,
      stream: 'pty',
      data: Uint8Array.of(0xff),
    } as const;
    const params = { processId: 'p', seq: 1, stream: 'stdout', chunk: '/wA=' } as const;
    hub.publish({ method: 'process/output', params });
    hub.publishOutput(frame);
    hub.publish({ method: 'process/output', params: { ...params, sessionId: 's' } });
    hub.publish(closedEvent(3));
    expect([order, hub.heldCount]).toEqual([[], 4]);
    stop();
    stop();
    hub.release();
    const first = { processId: 'p', seq: 1, stream: 'stdout', data: Uint8Array.of(0xff, 0) };
    expect(order).toEqual([
      'process/output',
      first,
      frame,
      'process/output',
      { ...first, sessionId: 's' },
      'process/closed',
    ]);
  });

  test('a listener that throws stops no other, and its error surfaces', async () => {
    const hub = new NotificationHub(undefined);
    hub.release();
    const seen: number[] = [];
    hub.on('process/closed', () => {
      throw new Error('listener bug');
    });
    hub.on('process/closed', ({ seq }) => seen.push(seq));
    // The runner listens as well and would fail the test over what is surfaced on purpose.
    const runners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    const surfaced = new Promise((resolve) => process.once('uncaughtException', resolve));
    hub.publish(closedEvent(1));
    expect(await surfaced).toEqual(new Error('listener bug'));
    for (const runner of runners) process.on('uncaughtException', runner);
    expect(seen).toEqual([1]);
  });
});
