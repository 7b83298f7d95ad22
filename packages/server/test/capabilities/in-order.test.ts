import { expect, it } from 'vitest';
import { mapInOrder } from '../../src/capabilities/in-order.js';

it('keeps the order of the items and the number of tasks', async () => {
  let running = 0;
  let most = 0;
  const results = await mapInOrder([5, 1, 4, 2, 3], 2, async (turns) => {
    most = Math.max(most, ++running);
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    running--;
    return turns * 10;
  });
  expect(results).toEqual([50, 10, 40, 20, 30]);
  expect(most).toBe(2);
  expect(await mapInOrder([], 2, async () => 1)).toEqual([]);
});
