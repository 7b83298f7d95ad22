import { describe, expect, it } from 'vitest';
import { StreamCap } from '../../src/output/stream-cap.js';

const take = (cap: StreamCap, text: string) => cap.take(Buffer.from(text))?.toString();

describe('a cap of three bytes', () => {
  it('lets less through and is not reached', () => {
    const cap = new StreamCap(3);
    expect([take(cap, 'a'), take(cap, 'b'), cap.reached]).toEqual(['a', 'b', false]);
  });

  it('is reached by the byte that fills it, and lets nothing through from there on', () => {
    const cap = new StreamCap(3);
    expect([take(cap, 'abc'), cap.reached, take(cap, 'd')]).toEqual(['abc', true, undefined]);
  });

  it('cuts the piece that goes beyond it', () => {
    const cap = new StreamCap(3);
    expect([take(cap, 'ab'), take(cap, 'cd'), cap.reached]).toEqual(['ab', 'c', true]);
  });
});

it('a cap of nothing is reached by the first byte, and not before', () => {
  const cap = new StreamCap(0);
  expect(cap.reached).toBe(false);
  expect([take(cap, 'a'), cap.reached, take(cap, 'b')]).toEqual(['', true, undefined]);
});

it('without an end nothing is ever cut', () => {
  const cap = new StreamCap(Number.POSITIVE_INFINITY);
  expect([take(cap, 'abc'), cap.reached]).toEqual(['abc', false]);
});
