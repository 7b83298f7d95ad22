import { describe, expect, test } from 'vitest';
import { LaggedError } from '../../src/errors.js';
import { MAX_HISTORY_EVENTS } from '../../src/low-level/event-history.js';
import type { ProcessSession } from '../../src/process-session.js';
import { closed, exited, follow, logOf, output, published, take } from '../support/followed-process.js';

describe('an iteration', () => {
  test('ends with its signal, and by being left', async () => {
    const { server, session } = await follow();
    const controller = new AbortController();
    const events = take(session.events({ signal: controller.signal }));
    server.send(output(1));
    await published(session, 1);
    controller.abort();
    expect(await take(session.events({ signal: controller.signal }))).toEqual([]);
    expect((await events).length).toBeLessThanOrEqual(1);
    expect(await take(session.events(), 1)).toEqual(['output 1']);
  });

  test('may be asked for several events at once', async () => {
    const { server, session } = await follow();
    const events = session.events();
    const asked = [events.next(), events.next(), events.next(), events.next()];
    server.send(output(1), output(2), closed(3));
    const results = await Promise.all(asked);
    expect(results.map(({ done }) => done)).toEqual([false, false, false, true]);
  });
});

describe('an iterator that falls behind', () => {
  const COUNT = MAX_HISTORY_EVENTS + 44;
  const all = Array.from({ length: COUNT }, (_, index) => index + 1);

  /** Until the event of that number was published, and the turn over in which a reader could have taken it. */
  async function missed(session: ProcessSession, seq: number): Promise<void> {
    await published(session, seq);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }

  test('goes on from the log of the server', async () => {
    const { server, session } = await follow(logOf(all, COUNT + 1));
    const events = session.events();
    server.send(...all.map((seq) => output(seq)), closed(COUNT + 1));
    await missed(session, COUNT + 1);
    expect(await take(events)).toEqual([...all.map((seq) => `output ${seq}`), `closed ${COUNT + 1}`]);
  });

  test('finds the exit between what the log has', async () => {
    const outputs = all.filter((seq) => seq !== 7);
    const { server, session } = await follow(logOf(outputs, COUNT + 1));
    const events = session.events();
    server.send(...all.map((seq) => (seq === 7 ? exited(7) : output(seq))));
    await missed(session, COUNT);
    expect((await take(events, 9)).slice(5)).toEqual(['output 6', 'exited 7', 'output 8', 'output 9']);
  });

  test('is told exactly what it missed, and can go on behind it', async () => {
    // The history begins with 45, the log with 11.
    const { server, session } = await follow(logOf(all.slice(10), COUNT + 1));
    const events = session.events({ afterSeq: 0 });
    server.send(...all.map((seq) => output(seq)), closed(COUNT + 1));
    await missed(session, COUNT + 1);
    const failure = await events.next().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LaggedError);
    expect(failure).toMatchObject({ code: 'lagged', fromSeq: 1, toSeq: 10 });
    expect((await events.next()).done).toBe(true);
    expect(await take(session.events({ afterSeq: 10 }), 2)).toEqual(['output 11', 'output 12']);
  });

  test('begins with a gap when it asked for all there is', async () => {
    const { server, session } = await follow(logOf(all.slice(10), COUNT + 1));
    server.send(...all.map((seq) => output(seq)));
    await missed(session, COUNT);
    expect(await take(session.events(), 2)).toEqual(['gap 1-10', 'output 11']);
  });

  test('misses what nobody can tell it any more', async () => {
    const { server, session } = await follow();
    const events = session.events({ afterSeq: 0 });
    server.send(...all.map((seq) => output(seq)));
    await missed(session, COUNT);
    server.far.destroy('cut');
    const failure = await events.next().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'lagged', fromSeq: 1, toSeq: 44 });
    expect((failure as LaggedError).cause).toMatchObject({ code: 'connection_lost' });
    expect((await take(session.events({ afterSeq: 44 }))).at(-1)).toBe(
      'failed exec-server transport disconnected: cut',
    );
  });

  test('has not fallen behind because much came at once', async () => {
    const { server, session } = await follow();
    const taken = take(session.events({ afterSeq: 0 }));
    server.send(...all.map((seq) => output(seq)), closed(COUNT + 1));
    expect(await taken).toEqual([...all.map((seq) => `output ${seq}`), `closed ${COUNT + 1}`]);
    expect(server.seen.some(({ method }) => method === 'process/read')).toBe(false);
  });

  test('holds up the connection instead, where that is wanted', async () => {
    const { server, session } = await follow(undefined, { slowReader: 'pause' });
    const events = session.events();
    const many = Array.from({ length: 2_000 }, (_, index) => index + 1);
    for (const seq of many) server.send(output(seq));
    server.send(closed(2_001));
    await published(session, MAX_HISTORY_EVENTS);
    expect(await take(events)).toEqual([...many.map((seq) => `output ${seq}`), 'closed 2001']);
    expect(server.seen.some(({ method }) => method === 'process/read')).toBe(false);
  });
});
