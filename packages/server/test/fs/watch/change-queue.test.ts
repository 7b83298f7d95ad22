import { MAX_CHANGES_PER_NOTIFICATION } from '@exec-server/protocol';
import { describe, expect, it } from 'vitest';
import { ChangeQueue, type ChangeQueueOptions, GATHER_MS } from '../../../src/fs/watch/change-queue.js';
import { FakeClock } from '../../support/fake-clock.js';

const LIMIT = 4;

/** A connection whose client reads when the test says so. */
class Client {
  writable = true;
  #onWritable: (() => void)[] = [];

  whenWritable(): Promise<void> {
    return new Promise((resolve) => this.#onWritable.push(resolve));
  }

  async read(): Promise<void> {
    this.writable = true;
    for (const resolve of this.#onWritable.splice(0)) resolve();
    await Promise.resolve();
  }
}

function openQueue(limit = LIMIT, options: Pick<ChangeQueueOptions, 'gatherMs' | 'keepsBelow'> = {}) {
  const clock = new FakeClock();
  const client = new Client();
  const sent: string[][] = [];
  const queue = new ChangeQueue({
    ...options,
    root: '/r',
    limit,
    clock,
    connection: client,
    send: (changes) => sent.push(changes.map(({ path, kind }) => `${kind} ${path}`)),
  });
  return { clock, client, sent, queue };
}

describe('each path is reported once, as what became of it last', () => {
  type Kind = 'created' | 'modified' | 'removed';
  it.each<[Kind, Kind, string]>([
    ['created', 'modified', 'created'],
    ['created', 'removed', 'removed'],
    ['modified', 'modified', 'modified'],
    ['modified', 'removed', 'removed'],
    ['modified', 'created', 'created'],
    ['removed', 'created', 'created'],
    ['removed', 'modified', 'modified'],
  ])('%s, then %s', (first, second, reported) => {
    const { clock, queue, sent } = openQueue();
    queue.add('/r/f', first, false);
    queue.add('/r/f', second, false);
    clock.advance(GATHER_MS);
    expect(sent).toEqual([[`${reported} /r/f`]]);
  });
});

it('a directory that goes or is new takes along what was to be said of what is below', () => {
  const { clock, queue, sent } = openQueue();
  queue.add('/r/d/f', 'created', false);
  queue.add('/r/d2', 'created', false);
  queue.add('/r/d', 'removed', true);
  queue.add('/r/d', 'created', true);
  queue.add('/r/d/g', 'created', false);
  clock.advance(GATHER_MS);
  expect(sent).toEqual([['created /r/d2', 'created /r/d', 'created /r/d/g']]);
});

it('what is below such a directory stays where it is wanted', () => {
  const { clock, queue, sent } = openQueue(LIMIT, { keepsBelow: true });
  queue.add('/r/d/f', 'removed', false);
  queue.add('/r/d', 'removed', true);
  clock.advance(GATHER_MS);
  expect(sent).toEqual([['removed /r/d/f', 'removed /r/d']]);
});

it('the moment is as long as the watch has it', () => {
  const { clock, queue, sent } = openQueue(LIMIT, { gatherMs: 200 });
  queue.add('/r/a', 'created', false);
  clock.advance(199);
  expect(sent).toEqual([]);
  clock.advance(1);
  expect(sent).toEqual([['created /r/a']]);
});

it('a new directory that is modified stays before what was found in it', () => {
  const { clock, queue, sent } = openQueue();
  queue.add('/r/d', 'created', true);
  queue.add('/r/d/f', 'created', false);
  queue.add('/r/d', 'modified', true);
  clock.advance(GATHER_MS);
  expect(sent).toEqual([['created /r/d', 'created /r/d/f']]);
});

it('changes are gathered for a moment, and each moment begins with a change', () => {
  const { clock, queue, sent } = openQueue();
  queue.add('/r/a', 'created', false);
  clock.advance(GATHER_MS - 1);
  queue.add('/r/b', 'created', false);
  expect(sent).toEqual([]);
  clock.advance(1);
  expect(sent).toEqual([['created /r/a', 'created /r/b']]);
  clock.advance(GATHER_MS);
  queue.add('/r/c', 'created', false);
  clock.advance(GATHER_MS);
  expect(sent).toHaveLength(2);
});

it.each([
  [LIMIT - 1, false],
  [LIMIT, false],
  [LIMIT + 1, true],
])('%i paths of at most 4: overflow %s', (count, overflows) => {
  const { clock, queue, sent } = openQueue();
  for (let index = 0; index < count; index++) queue.add(`/r/${index}`, 'created', false);
  // Paths that wait already need no more room.
  queue.add('/r/0', 'removed', false);
  clock.advance(GATHER_MS);
  expect(sent[0]).toEqual(overflows ? ['overflow /r'] : expect.arrayContaining(['removed /r/0']));
  expect(sent[0]).toHaveLength(overflows ? 1 : count);
});

it('an overflow is followed by what happens after it was sent', () => {
  const { clock, queue, sent } = openQueue();
  queue.add('/r/a', 'created', false);
  queue.overflow();
  queue.add('/r/b', 'created', false);
  clock.advance(GATHER_MS);
  queue.add('/r/c', 'created', false);
  clock.advance(GATHER_MS);
  expect(sent).toEqual([['overflow /r'], ['created /r/c']]);
});

it.each([
  [MAX_CHANGES_PER_NOTIFICATION - 1, [MAX_CHANGES_PER_NOTIFICATION - 1]],
  [MAX_CHANGES_PER_NOTIFICATION, [MAX_CHANGES_PER_NOTIFICATION]],
  [MAX_CHANGES_PER_NOTIFICATION + 1, [MAX_CHANGES_PER_NOTIFICATION, 1]],
])('%i changes go out as %j', (count, sizes) => {
  const { clock, queue, sent } = openQueue(10_000);
  for (let index = 0; index < count; index++) queue.add(`/r/${index}`, 'created', false);
  clock.advance(GATHER_MS);
  expect(sent.map(({ length }) => length)).toEqual(sizes);
});

describe('while the client does not read', () => {
  it('changes are gathered on, and sent when it does', async () => {
    const { clock, client, queue, sent } = openQueue();
    client.writable = false;
    queue.add('/r/a', 'created', false);
    clock.advance(GATHER_MS);
    queue.add('/r/a', 'removed', false);
    queue.add('/r/b', 'created', false);
    clock.advance(GATHER_MS);
    expect(sent).toEqual([]);
    await client.read();
    expect(sent).toEqual([['removed /r/a', 'created /r/b']]);
  });

  it('too many become one overflow', async () => {
    const { clock, client, queue, sent } = openQueue();
    client.writable = false;
    for (let index = 0; index < 1000; index++) {
      queue.add(`/r/${index}`, 'created', false);
      clock.advance(GATHER_MS);
    }
    await client.read();
    expect(sent).toEqual([['overflow /r']]);
  });

  it('a queue that is closed meanwhile sends nothing', async () => {
    const { clock, client, queue, sent } = openQueue();
    client.writable = false;
    queue.add('/r/a', 'created', false);
    clock.advance(GATHER_MS);
    queue.close();
    queue.add('/r/b', 'created', false);
    queue.overflow();
    await client.read();
    expect(sent).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});
