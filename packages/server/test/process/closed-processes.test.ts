import { describe, expect, it } from 'vitest';
import { ANONYMOUS_PRINCIPAL } from '../../src/listen/principal.js';
import { ClosedProcesses } from '../../src/process/closed-processes.js';
import { ProcessRegistry } from '../../src/process/process-registry.js';
import { FakeClock } from '../support/fake-clock.js';

const session = { id: 's', principal: ANONYMOUS_PRINCIPAL };

function open() {
  const clock = new FakeClock();
  const registry = new ProcessRegistry();
  const limits = { retentionMs: 30_000, outputBytes: 100, count: 3 };
  const closed = new ClosedProcesses(registry, clock, limits);
  const dropped: string[] = [];
  const add = (id: string, outputBytes: number, descriptionBytes = 0, keepAliveMs = 0) => {
    const slot = registry.reserve(session, id);
    if (slot === undefined) throw new Error(`${id} is taken`);
    closed.add(slot, { outputBytes, descriptionBytes, keepAliveMs, dropOutput: () => dropped.push(id) });
    return slot;
  };
  const known = () => registry.ofSession('s').map(({ processId }) => processId);
  return { clock, closed, add, known, dropped };
}

describe('closed processes', () => {
  it('are forgotten when their time is up, to the millisecond', () => {
    const { clock, closed, add, known } = open();
    add('p', 10);
    clock.advance(29_999);
    expect(known()).toEqual(['p']);
    clock.advance(1);
    expect(known()).toEqual([]);
    expect(closed.bytes).toBe(0);
  });

  it('are kept for as long as they were to be kept alive, if that is longer', () => {
    const { clock, add, known } = open();
    add('brief', 1, 0, 1000);
    add('long', 1, 0, 3_600_000);
    clock.advance(29_999);
    expect(known()).toEqual(['brief', 'long']);
    clock.advance(1);
    expect(known()).toEqual(['long']);
    clock.advance(3_600_000 - 30_001);
    expect(known()).toEqual(['long']);
    clock.advance(1);
    expect(known()).toEqual([]);
  });

  it.each([
    [59, []],
    [60, []],
    [61, ['a']],
  ])('with 40 of 100 bytes kept, %i more leave %o', (bytes, left) => {
    const { add, known, dropped } = open();
    add('a', 40);
    add('b', bytes);
    expect(dropped).toEqual(left);
    expect(known()).toEqual(['a', 'b']);
  });

  it('lose their output before they are forgotten, and only as much as has to go', () => {
    const { add, known, dropped, closed } = open();
    add('a', 40, 10);
    add('b', 40, 10);
    add('c', 10, 70);
    expect(dropped).toEqual(['a', 'b']);
    expect([known(), closed.bytes]).toEqual([['a', 'b', 'c'], 100]);
    add('d', 0, 1);
    expect(dropped).toEqual(['a', 'b', 'c']);
    expect([known(), closed.bytes]).toEqual([['b', 'c', 'd'], 81]);
  });

  it.each([
    [2, ['0', '1']],
    [3, ['0', '1', '2']],
    [4, ['1', '2', '3']],
  ])('of %i the newest three are kept', (count, left) => {
    const { add, known } = open();
    for (let id = 0; id < count; id++) add(String(id), 0);
    expect(known()).toEqual(left);
  });

  it('that are gone early leave no timer behind', () => {
    const { clock, add, closed } = open();
    for (const id of ['a', 'b', 'c', 'd']) add(id, 1);
    expect(clock.pendingTimers).toBe(3);
    const slot = add('e', 1);
    expect(closed.remove(slot)).toBe(true);
    expect(closed.remove(slot)).toBe(false);
    expect([clock.pendingTimers, closed.count, closed.bytes]).toEqual([2, 2, 2]);
  });
});
