import { expect, test } from 'vitest';
import { MessageGate } from '../../src/connection/message-gate.js';

function hold(gate: MessageGate): { open: () => Promise<void> } {
  let settle = () => {};
  const wait = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const opened = gate.closeUntil(wait);
  return {
    open: () => {
      settle();
      return opened;
    },
  };
}

test('messages pass at once, and in order when they were held back', async () => {
  const gate = new MessageGate();
  const taken: number[] = [];
  gate.pass(() => taken.push(1));
  const { open } = hold(gate);
  expect(gate.isOpen).toBe(false);
  gate.pass(() => taken.push(2));
  gate.pass(() => taken.push(3));
  expect(taken).toEqual([1]);
  await open();
  expect([taken, gate.isOpen]).toEqual([[1, 2, 3], true]);
});

test('one of them may have the others wait again', async () => {
  const gate = new MessageGate();
  const taken: number[] = [];
  const first = hold(gate);
  let second = { open: async () => {} };
  gate.pass(() => {
    second = hold(gate);
  });
  gate.pass(() => taken.push(1));
  await first.open();
  expect([taken, gate.isOpen]).toEqual([[], false]);
  await second.open();
  expect([taken, gate.isOpen]).toEqual([[1], true]);
});

test('a wait that fails opens it, too', async () => {
  const gate = new MessageGate();
  const taken: number[] = [];
  const opened = gate.closeUntil(Promise.reject(new Error('no')));
  gate.pass(() => taken.push(1));
  await expect(opened).rejects.toThrow('no');
  expect(taken).toEqual([1]);
});
