import { describe, expect, it } from 'vitest';
import { CollectionLoad, HEAVY_SHARE, LIGHT_SHARE, WINDOW_MS } from '../../src/serve/collection-load.js';

/** A window of the given length that spends a share of its time, all of it in the collection that ends it. */
function addWindow(load: CollectionLoad, startMs: number, share: number, lengthMs = WINDOW_MS): number {
  const spent = share * lengthMs;
  load.add(startMs + lengthMs - spent, spent);
  return startMs + lengthMs;
}

describe('CollectionLoad', () => {
  it.each([
    [HEAVY_SHARE - 0.001, false],
    [HEAVY_SHARE, true],
    [HEAVY_SHARE + 0.001, true],
  ])('a share of %s is heavy: %s', (share, heavy) => {
    const load = new CollectionLoad(0);
    addWindow(load, 0, share);
    expect(load.isHeavy).toBe(heavy);
  });

  it.each([
    [LIGHT_SHARE - 0.001, false],
    [LIGHT_SHARE, true],
    [LIGHT_SHARE + 0.001, true],
  ])('once heavy, a share of %s is still heavy: %s', (share, heavy) => {
    const load = new CollectionLoad(0);
    const next = addWindow(load, 0, 1);
    addWindow(load, next, share);
    expect(load.isHeavy).toBe(heavy);
  });

  it.each([
    [WINDOW_MS - 1, false],
    [WINDOW_MS, true],
    [WINDOW_MS + 1, true],
  ])('is judged after %i ms: %s', (lengthMs, judged) => {
    const load = new CollectionLoad(0);
    addWindow(load, 0, 1, lengthMs);
    expect(load.isHeavy).toBe(judged);
  });

  it('adds up the collections of a window, and begins anew with the next', () => {
    const load = new CollectionLoad(1000);
    const spent = (HEAVY_SHARE * WINDOW_MS) / 2;
    load.add(1010, spent);
    load.add(1000 + WINDOW_MS - spent, spent);
    expect(load.isHeavy).toBe(true);
    addWindow(load, 1000 + WINDOW_MS, 0);
    expect(load.isHeavy).toBe(false);
    load.add(1000 + 3 * WINDOW_MS - spent, spent);
    expect(load.isHeavy).toBe(false);
  });
});
