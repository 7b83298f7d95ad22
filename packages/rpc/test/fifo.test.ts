import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Fifo } from '../src/fifo.js';

it('agrees with an array under any sequence of operations', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('push', 'push', 'shift', 'clear'), { maxLength: 300 }),
      (operations) => {
        const queue = new Fifo<number>();
        let model: number[] = [];
        for (const [index, operation] of operations.entries()) {
          if (operation === 'push') {
            queue.push(index);
            model.push(index);
          } else if (operation === 'shift') expect(queue.shift()).toBe(model.shift());
          else {
            queue.clear();
            model = [];
          }
          expect(queue.length).toBe(model.length);
        }
      },
    ),
  );
});
