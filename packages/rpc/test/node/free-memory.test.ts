import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { freeMemory } from '../../src/node/free-memory.js';

const MIB = 1024 * 1024;
const MAX_TURN_BYTES = 64 * MIB;

const allocate = (bytes: number) => Buffer.allocUnsafeSlow(bytes).buffer as ArrayBuffer;

/** Turns of the loop that pass until it is true. */
async function countTurns(isTrue: () => boolean): Promise<number> {
  let turns = 0;
  for (; !isTrue(); turns++) await nextTurn();
  return turns;
}

it('takes the memory from whoever has a view of it, and gives it back', async () => {
  const before = process.memoryUsage().arrayBuffers;
  const view = Buffer.allocUnsafeSlow(100 * MIB);
  freeMemory(view.buffer as ArrayBuffer);
  await countTurns(() => process.memoryUsage().arrayBuffers < before + MIB);
  expect(view.length).toBe(0);
});

it.each([
  [MAX_TURN_BYTES - MIB, 0],
  [MAX_TURN_BYTES, 0],
  [MAX_TURN_BYTES + MIB, MIB],
])('of %i bytes in pieces of a mebibyte, %i are left for the next turn', async (bytes, left) => {
  const pieces = Array.from({ length: bytes / MIB }, () => allocate(MIB));
  for (const piece of pieces) freeMemory(piece);
  await countTurns(() => pieces[0]!.byteLength === 0);
  expect(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(left);
  await countTurns(() => pieces.every(({ byteLength }) => byteLength === 0));
});
