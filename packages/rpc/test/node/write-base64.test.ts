import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type Base64Writer,
  base64Length,
  MIN_HOST_BYTES,
  useBase64Writer,
  writeBase64,
} from '../../src/node/write-base64.js';

/** What `writeBase64` makes of the bytes, between others that stay as they are. */
function write(bytes: Uint8Array): string {
  const into = Buffer.alloc(base64Length(bytes.length) + 2, '.');
  expect(writeBase64(bytes, into, 1)).toBe(into.length - 2);
  return into.toString('latin1');
}

describe('writeBase64', () => {
  it.each([0, 1, 2, 3, 4, 49_151, 49_152, 49_153, 98_304, 98_305])('of %i bytes', (length) => {
    const bytes = randomBytes(length);
    expect(write(bytes)).toBe(`.${bytes.toString('base64')}.`);
  });

  it('writes the bytes that a view shows', () => {
    const bytes = randomBytes(5000);
    const view = new Uint8Array(bytes.buffer, bytes.byteOffset + 1, 4000);
    expect(write(view)).toBe(`.${bytes.subarray(1, 4001).toString('base64')}.`);
  });

  it.each([
    [MIN_HOST_BYTES - 1, false],
    [MIN_HOST_BYTES, true],
    [MIN_HOST_BYTES + 1, true],
  ])('has the writer of the host write %i bytes: %s', (length, expected) => {
    let isUsed = false;
    const writer: Base64Writer = (bytes, into, at) => {
      isUsed = true;
      return into.write(Buffer.from(bytes).toString('base64'), at, 'latin1');
    };
    useBase64Writer(writer);
    const bytes = randomBytes(length);
    expect(write(bytes)).toBe(`.${bytes.toString('base64')}.`);
    expect(isUsed).toBe(expected);
  });
});
