import { describe, expect, it } from 'vitest';
import { EventQueue, MAX_WAITING_EVENTS } from '../../src/run/event-queue.js';
import { collect } from '../collect.js';

describe('EventQueue', () => {
  it('hands every reader what comes from when it began', async () => {
    const queue = new EventQueue<number>();
    const first = queue.read();
    queue.push(1);
    const second = queue.read();
    queue.push(2);
    queue.end();
    expect(await collect(first)).toEqual([1, 2]);
    expect(await collect(second)).toEqual([2]);
    expect(await collect(queue.read())).toEqual([]);
  });

  it('wakes a reader that waits', async () => {
    const queue = new EventQueue<number>();
    const reader = queue.read();
    const next = reader.next();
    queue.push(7);
    expect(await next).toEqual({ value: 7, done: false });
  });

  it.each([
    [MAX_WAITING_EVENTS - 1, true],
    [MAX_WAITING_EVENTS, false],
    [MAX_WAITING_EVENTS + 1, false],
  ])('with %i events that wait there is room: %s', (count, hasRoom) => {
    const queue = new EventQueue<number>();
    queue.read();
    for (let event = 0; event < count; event++) queue.push(event);
    expect(queue.whenReady() === undefined).toBe(hasRoom);
  });

  it('has room again when the reader has read, or left', async () => {
    const queue = new EventQueue<number>();
    const readers = [queue.read(), queue.read()];
    for (let event = 0; event < MAX_WAITING_EVENTS; event++) queue.push(event);
    const ready = queue.whenReady();
    await readers[0]?.next();
    expect(queue.whenReady()).toBeDefined();
    await readers[1]?.return?.();
    await ready;
    expect(queue.whenReady()).toBeUndefined();
  });

  it('costs nothing without readers', () => {
    const queue = new EventQueue<number>();
    for (let event = 0; event < MAX_WAITING_EVENTS * 2; event++) queue.push(event);
    expect(queue.whenReady()).toBeUndefined();
  });
});
