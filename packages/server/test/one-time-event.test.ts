import { describe, expect, it } from 'vitest';
import { OneTimeEvent } from '../src/one-time-event.js';

describe('OneTimeEvent', () => {
  it('tells everybody who waits, and whoever asks later', async () => {
    const event = new OneTimeEvent();
    const early = [event.promise, event.promise];
    expect(event.happened).toBe(false);
    event.happen();
    expect(event.happened).toBe(true);
    await Promise.all(early);
    await event.promise;
  });

  it('happens once', async () => {
    const event = new OneTimeEvent();
    const told: string[] = [];
    void event.promise.then(() => told.push('told'));
    event.happen();
    event.happen();
    await event.promise;
    expect(told).toEqual(['told']);
  });

  it('tells nobody before', async () => {
    const event = new OneTimeEvent();
    const first = await Promise.race([event.promise.then(() => 'event'), Promise.resolve('nothing')]);
    expect(first).toBe('nothing');
  });
});
