import { describe, expect, test } from 'vitest';
import { SharedTurn } from '../src/index.js';
import { openManualTurns } from './support/manual-turns.js';

describe('a slice', () => {
  test('has time until its length is reached, from whoever asked first', () => {
    const { slices, pass } = openManualTurns(4);
    pass(100);
    expect(slices.hasTime).toBe(true);
    pass(3);
    expect(slices.hasTime).toBe(true);
    pass(1);
    expect(slices.hasTime).toBe(false);
    pass(1);
    expect(slices.hasTime).toBe(false);
  });

  test('begins anew in the next turn, and only then', () => {
    const { slices, pass, callBack } = openManualTurns(4);
    expect(slices.hasTime).toBe(true);
    pass(50);
    expect(slices.hasTime).toBe(false);
    callBack();
    expect(slices.hasTime).toBe(true);
  });

  test('of a turn in which nobody asks costs no further turns', () => {
    const { slices, callBack } = openManualTurns();
    expect(slices.hasTime).toBe(true);
    expect(callBack()).toBe(true);
    expect(callBack()).toBe(false);
  });
});

describe('what is deferred', () => {
  test('runs in order, what is to go first before the rest', () => {
    const { slices, turn } = openManualTurns();
    const ran: string[] = [];
    slices.defer(() => ran.push('a'));
    slices.deferFirst(() => ran.push('first'));
    slices.defer(() => ran.push('b'));
    expect(ran).toEqual([]);
    expect(slices.isIdle).toBe(false);
    turn();
    expect(ran).toEqual(['first', 'a', 'b']);
    expect(slices.isIdle).toBe(true);
  });

  test('waits until the loop has looked for what else came in, once after each slice', () => {
    const { slices, callBack } = openManualTurns();
    const ran: number[] = [];
    const again = () => {
      ran.push(ran.length);
      if (ran.length < 3) slices.defer(again);
    };
    slices.defer(again);
    callBack();
    expect(ran).toEqual([]);
    callBack();
    expect(ran).toEqual([0]);
    callBack();
    expect(ran).toEqual([0, 1]);
    callBack();
    expect(ran).toEqual([0, 1, 2]);
    expect(callBack()).toBe(false);
  });
});

describe('a turn that several share', () => {
  test.each([
    [0, 6],
    [1, 6],
    [2, 3],
    [6, 1],
    [7, 1],
  ])('gives each of %d that are busy %d of 6 ms', (busy, sliceMs) => {
    const turn = new SharedTurn(6);
    turn.busy = busy;
    expect(turn.sliceMs).toBe(sliceMs);
  });

  test('counts those whose work waits, each once', () => {
    const { shared, open, turn } = openManualTurns(6);
    const [a, b] = [open(), open()];
    a.defer(() => {});
    a.deferFirst(() => {});
    b.defer(() => expect(shared.busy).toBe(0));
    expect(shared.busy).toBe(2);
    turn();
    expect(shared.busy).toBe(0);
  });
});
