import { readdirSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ScreenJob } from '../../src/snapshot/render-screen.js';
import { MAX_KEPT_SCREEN_BYTES, ScreenLimitError, Screens } from '../../src/snapshot/screens.js';
import { silentLogger } from '../../src/telemetry/logger.js';
import { FakeClock } from '../support/fake-clock.js';

function openScreens() {
  const clock = new FakeClock();
  const warn = vi.fn();
  const screens = new Screens({ clock, logger: { ...silentLogger, warn } });
  onTestFinished(() => screens.close());
  return { clock, screens, warn };
}

const job = (text: string, changes: Partial<ScreenJob> = {}): ScreenJob => ({
  output: [Buffer.from(text)],
  rows: 2,
  cols: 10,
  exact: true,
  ...changes,
});

const parse = (json: Uint8Array) => JSON.parse(Buffer.from(json).toString()) as { lines: string[] };

/** A screen of few characters, each with many accents: some three million bytes of JSON. */
const LARGE = job(`x${'\u0301'.repeat(40)}`.repeat(20_000), { rows: 100, cols: 200 });

const countThreads = () => readdirSync('/proc/self/task').length;

describe('screens', () => {
  it('are rendered in another thread, which ends after a while without work', async () => {
    const before = countThreads();
    const { clock, screens, warn } = openScreens();
    const json = await screens.render({ owner: {}, seq: 1 }, job('text'));
    expect(parse(json)).toEqual({
      rows: 2,
      cols: 10,
      cursorRow: 0,
      cursorCol: 4,
      lines: ['text', ''],
      ansi: 'text',
      exact: true,
    });
    expect(warn).not.toHaveBeenCalled();
    expect(countThreads()).toBeGreaterThan(before);
    clock.advance(9_999);
    expect(parse(await screens.render({ owner: {}, seq: 1 }, job('more'))).lines).toEqual(['more', '']);
    clock.advance(10_000);
    await vi.waitFor(() => expect(countThreads()).toBe(before));
    expect(parse(await screens.render({ owner: {}, seq: 1 }, job('again'))).lines).toEqual(['again', '']);
  });

  it('of one moment and size are rendered once', async () => {
    const { clock, screens } = openScreens();
    const owner = {};
    const first = screens.render({ owner, seq: 1 }, job('one'));
    expect(screens.render({ owner, seq: 1 }, job('one'))).toBe(first);
    await first;
    expect(screens.render({ owner, seq: 1 }, job('one'))).toBe(first);
    expect(screens.render({ owner: {}, seq: 1 }, job('one'))).not.toBe(first);
    const larger = screens.render({ owner, seq: 1 }, job('one', { rows: 3 }));
    expect(larger).not.toBe(first);
    const later = screens.render({ owner, seq: 2 }, job('two', { rows: 3 }));
    expect(parse(await later).lines).toEqual(['two', '', '']);
    expect(parse(await larger).lines).toEqual(['one', '', '']);
    clock.advance(10_000);
    expect(screens.render({ owner, seq: 2 }, job('two', { rows: 3 }))).not.toBe(later);
  });

  it('are kept up to a size; the oldest are dropped', async () => {
    const { screens } = openScreens();
    const owners = Array.from({ length: 4 }, () => ({}));
    const render = (owner: object) => screens.render({ owner, seq: 1 }, LARGE);
    const rendered = owners.map((owner) => render(owner));
    const { length } = await (rendered[0] as Promise<Uint8Array>);
    await Promise.all(rendered);
    const fit = Math.floor(MAX_KEPT_SCREEN_BYTES / length);
    expect(fit).toBeGreaterThan(1);
    expect(fit).toBeLessThan(owners.length);
    const kept = owners.slice(-fit);
    for (const owner of kept) expect(render(owner)).toBe(rendered[owners.indexOf(owner)]);
    const dropped = owners.length - fit - 1;
    expect(render(owners[dropped] as object)).not.toBe(rendered[dropped]);
  });

  it.each([
    [63, 0],
    [64, 0],
    [65, 1],
  ])('of %i screens at once %i are refused', async (count, refused) => {
    const { screens } = openScreens();
    const attempts = Array.from({ length: count }, async (_, index) =>
      screens.render({ owner: {}, seq: 1 }, job(String(index))),
    );
    const outcomes = await Promise.allSettled(attempts);
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(failures).toHaveLength(refused);
    for (const { reason } of failures) expect(reason).toBeInstanceOf(ScreenLimitError);
    // None is left waiting: there is room again.
    expect(parse(await screens.render({ owner: {}, seq: 1 }, job('next'))).lines[0]).toBe('next');
  });
});

describe('a screen that cannot be rendered', () => {
  it('is one error, and is tried again when it is asked for again', async () => {
    const { screens } = openScreens();
    const owner = {};
    const bad = () => screens.render({ owner, seq: 1 }, job('bad', { output: 7 as never }));
    const good = () => screens.render({ owner: {}, seq: 1 }, job('good'));
    const [first, second] = await Promise.allSettled([bad(), good()]);
    expect(first.status).toBe('rejected');
    expect(second.status).toBe('fulfilled');
    await expect(bad()).rejects.toThrow();
  });

  it('in its time ends with the thread, and the next has a new one', async () => {
    const { clock, screens, warn } = openScreens();
    await screens.render({ owner: {}, seq: 1 }, job('first'));
    const slow = screens.render({ owner: {}, seq: 1 }, LARGE);
    const next = screens.render({ owner: {}, seq: 1 }, job('next'));
    clock.advance(10_000);
    await expect(slow).rejects.toThrow('longer than 10 seconds');
    expect(parse(await next).lines).toEqual(['next', '']);
    expect(warn).not.toHaveBeenCalled();
  });
});
