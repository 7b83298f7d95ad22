import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { TickCork } from '../../src/node/tick-cork.js';

it('joins what one turn writes, and the next turn again', async () => {
  const batches: number[] = [];
  const stream = new Writable({
    write: (_chunk, _encoding, done) => {
      batches.push(1);
      done();
    },
    writev: (chunks, done) => {
      batches.push(chunks.length);
      done();
    },
  });
  const cork = new TickCork(stream);
  for (const count of [3, 2]) {
    for (let n = 0; n < count; n++) {
      cork.hold();
      stream.write('x');
    }
    expect(stream.writableLength).toBe(count);
    await new Promise(setImmediate);
  }
  expect(batches).toEqual([3, 2]);
});
