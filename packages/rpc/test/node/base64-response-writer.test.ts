import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Base64ResponseWriter } from '../../src/node/base64-response-writer.js';

it('writes what JSON would, whatever the pieces and the expectation', () => {
  const piece = fc.uint8Array({ maxLength: 40 });
  const id = fc.oneof(fc.string(), fc.integer(), fc.constant(2n ** 63n - 1n));
  fc.assert(
    fc.property(id, fc.array(piece, { maxLength: 8 }), fc.nat(300), (requestId, pieces, expectedBytes) => {
      const writer = new Base64ResponseWriter(requestId, 'da"ta', expectedBytes);
      for (const bytes of pieces) writer.append(Buffer.from(bytes));
      const data = Buffer.concat(pieces).toString('base64');
      const idText = typeof requestId === 'bigint' ? String(requestId) : JSON.stringify(requestId);
      expect(writer.finish().toString()).toBe(
        `{"id":${idText},"result":${JSON.stringify({ 'da"ta': data })}}\n`,
      );
    }),
  );
});

it('copies what it is given', () => {
  const writer = new Base64ResponseWriter(1, 'chunk', 4);
  const block = Buffer.from('aaaa');
  writer.append(block);
  block.fill('b');
  writer.append(block.subarray(0, 1));
  expect(JSON.parse(writer.finish().toString())).toEqual({ id: 1, result: { chunk: btoa('aaaab') } });
});

it.each([49_151, 49_152, 49_153, 98_304, 98_305])(
  'pieces of %i bytes lose nothing where they are cut',
  (length) => {
    const piece = randomBytes(length);
    const writer = new Base64ResponseWriter(1, 'data', 2 * length);
    writer.append(piece);
    writer.append(piece);
    const data = Buffer.concat([piece, piece]).toString('base64');
    expect(writer.finish().toString()).toBe(`{"id":1,"result":{"data":"${data}"}}\n`);
  },
);
