import { describe, expect, test } from 'vitest';
import { MAX_SESSION_ID, MAX_SESSIONS, MIN_SESSION_ID } from '../../src/unified-exec/limits.js';
import { SessionStore, type StoredSession } from '../../src/unified-exec/session-store.js';

type Session = { -readonly [K in keyof StoredSession]: StoredSession[K] };

/** Sessions with ids from 1 on, the first the one that was used longest ago. */
function fill(count: number) {
  const store = new SessionStore<Session>();
  const sessions = Array.from({ length: count }, (_, index): Session => {
    const session = { sessionId: index + 1, hasExited: false, isBusy: false };
    store.add(session);
    return session;
  });
  const add = () =>
    store.add({ sessionId: count + 1, hasExited: false, isBusy: true }).map(({ sessionId }) => sessionId);
  return { store, sessions, add };
}

const at = (sessions: readonly Session[], id: number) => sessions[id - 1] as Session;

describe('number', () => {
  test.each([
    [MAX_SESSIONS - 2, []],
    [MAX_SESSIONS - 1, []],
    [MAX_SESSIONS, [1]],
  ])('one more than %i', (count, removed) => {
    const { store, add } = fill(count);
    expect(add()).toEqual(removed);
    expect(store.list()).toHaveLength(Math.min(count + 1, MAX_SESSIONS));
    for (const id of removed) expect(store.get(id)).toBeUndefined();
  });
});

describe('who makes room', () => {
  test('the one that was used longest ago', () => {
    const { store, sessions, add } = fill(MAX_SESSIONS);
    store.touch(at(sessions, 1));
    expect(add()).toEqual([2]);
  });

  test('one that has exited before one that lives', () => {
    const { sessions, add } = fill(MAX_SESSIONS);
    at(sessions, 40).hasExited = true;
    at(sessions, 30).hasExited = true;
    expect(add()).toEqual([30]);
  });

  test.each([
    [56, [56]],
    [57, [1]],
  ])('exited as number %i of 64: the 8 that were used last stay', (id, removed) => {
    const { sessions, add } = fill(MAX_SESSIONS);
    at(sessions, id).hasExited = true;
    expect(add()).toEqual(removed);
  });

  test('none with a call in progress', () => {
    const { sessions, add } = fill(MAX_SESSIONS);
    at(sessions, 1).isBusy = true;
    expect(add()).toEqual([2]);
  });

  test('none that lives because one that has exited is busy', () => {
    const { store, sessions, add } = fill(MAX_SESSIONS);
    Object.assign(at(sessions, 5), { hasExited: true, isBusy: true });
    expect(add()).toEqual([]);
    expect(store.list()).toHaveLength(MAX_SESSIONS + 1);
    at(sessions, 5).isBusy = false;
    expect(store.add({ sessionId: 99, hasExited: false, isBusy: false })).toEqual([
      at(sessions, 5),
      at(sessions, 1),
    ]);
  });
});

test('ids are within their bounds and not given twice', () => {
  const store = new SessionStore<Session>();
  const ids = Array.from({ length: 5000 }, () => store.reserveId());
  expect(new Set(ids).size).toBe(ids.length);
  expect(Math.min(...ids)).toBeGreaterThanOrEqual(MIN_SESSION_ID);
  expect(Math.max(...ids)).toBeLessThanOrEqual(MAX_SESSION_ID);
});

test('an id can be given again once it is free', () => {
  const store = new SessionStore<Session>();
  const all = MAX_SESSION_ID - MIN_SESSION_ID + 1;
  const ids = Array.from({ length: all }, () => store.reserveId());
  const [freed, removed] = [ids[7] as number, ids[70] as number];
  store.releaseId(freed);
  expect(store.reserveId()).toBe(freed);
  store.remove({ sessionId: removed, hasExited: true, isBusy: false });
  expect(store.reserveId()).toBe(removed);
});
