import { describe, expect, test } from 'vitest';
import { InboundQueue } from '../src/inbound-queue.js';
import { InboundValve } from '../src/inbound-valve.js';
import type { Transport } from '../src/index.js';
import { openManualTurns } from './support/manual-turns.js';

/** A queue whose steps take a millisecond each, and what was done to the transport. */
function openQueue(sliceMs: number) {
  const turns = openManualTurns(sliceMs);
  const log: string[] = [];
  const transport = { pause: () => log.push('pause'), resume: () => log.push('resume') };
  const queue = new InboundQueue(turns.slices, new InboundValve(transport as unknown as Transport));
  const add = (name: string) =>
    queue.add(() => {
      log.push(name);
      turns.pass(1);
    });
  return { ...turns, queue, log, add };
}

const microtasks = () => Promise.resolve();

describe('steps', () => {
  test.each([
    [2, ['0', '1'], []],
    [3, ['0', '1', '2'], []],
    [4, ['0', '1', '2'], ['3']],
  ])('of %d, with time for 3, run in order, and what is left runs in the next turn', (count, now, later) => {
    const { add, log, turn } = openQueue(3);
    for (let step = 0; step < count; step++) add(String(step));
    expect(log).toEqual(now);
    turn();
    expect(log.filter((entry) => entry !== 'resume')).toEqual([...now, ...later]);
  });

  test('that wait stop the transport until the last of them has run', async () => {
    const { add, log, turn } = openQueue(2);
    for (const name of ['a', 'b', 'c', 'd', 'e']) add(name);
    await microtasks();
    expect(log).toEqual(['a', 'b', 'pause']);
    turn();
    expect(log).toEqual(['a', 'b', 'pause', 'c', 'd']);
    add('f');
    turn();
    expect(log).toEqual(['a', 'b', 'pause', 'c', 'd', 'e', 'f', 'resume']);
    turn();
    add('g');
    expect(log.at(-1)).toBe('g');
  });

  test('that go on are taken again before all others, a turn later', async () => {
    const { add, log, queue, turn, pass } = openQueue(2);
    let left = 3;
    queue.add(() => {
      log.push('long');
      pass(2);
      left -= 1;
      return left === 0;
    });
    add('a');
    await microtasks();
    expect(log).toEqual(['long', 'pause']);
    while (turn());
    expect(log).toEqual(['long', 'pause', 'long', 'long', 'a', 'resume']);
  });

  test('that are dropped are told so, begun or not, and those that are done are not', () => {
    const { log, queue, turn, pass } = openQueue(1);
    const addLong = (name: string, isDone: boolean) =>
      queue.add(
        () => {
          pass(1);
          return isDone;
        },
        () => log.push(`dropped ${name}`),
      );
    addLong('done', true);
    turn();
    addLong('begun', false);
    addLong('waiting', false);
    queue.clear();
    while (turn());
    expect(log.filter((entry) => entry.startsWith('dropped'))).toEqual(['dropped begun', 'dropped waiting']);
  });

  test('that are dropped never run, and the transport goes on', async () => {
    const { add, log, queue, turn } = openQueue(1);
    add('a');
    add('b');
    await microtasks();
    queue.clear();
    turn();
    expect(log).toEqual(['a', 'pause', 'resume']);
  });

  test('without slices run at once', () => {
    const queue = new InboundQueue(undefined, new InboundValve({} as Transport));
    let ran = 0;
    for (let step = 0; step < 1000; step++) queue.add(() => void ran++);
    expect(ran).toBe(1000);
    expect(queue.isBusy).toBe(false);
  });
});

describe('the last step', () => {
  test('runs at once when nothing waits, also after the slice is over', () => {
    const { add, log, queue } = openQueue(1);
    add('a');
    queue.addLast(() => log.push('last'));
    expect(log).toEqual(['a', 'last']);
  });

  test('runs after everything that waits for a turn', () => {
    const { add, log, queue, slices, turn } = openQueue(1);
    for (const name of ['a', 'b', 'c']) add(name);
    queue.addLast(() => log.push('last'));
    slices.deferFirst(() => slices.deferFirst(() => log.push('elsewhere')));
    while (turn());
    expect(log.filter((entry) => entry !== 'resume')).toEqual(['a', 'b', 'elsewhere', 'c', 'last']);
  });
});
