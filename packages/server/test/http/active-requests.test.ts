import { describe, expect, it } from 'vitest';
import { ActiveRequests } from '../../src/http/active-requests.js';
import { HttpError } from '../../src/http/http-error.js';
import { FakeClock } from '../support/fake-clock.js';

const LIMITS = { httpRequests: 3, httpBufferedBytes: 10 };

function open() {
  const clock = new FakeClock();
  const requests = new ActiveRequests();
  const begin = (requestId: string, { streamed = false, timeoutMs = undefined as number | undefined } = {}) =>
    requests.begin({ requestId, streamed, timeoutMs, clock }, LIMITS);
  return { clock, requests, begin };
}

const failing = (failure: string) => expect.objectContaining({ failure }) as Error;

describe('ids', () => {
  it('of streams are unique among streams', () => {
    const { begin } = open();
    begin('a', { streamed: true });
    begin('a');
    expect(() => begin('a', { streamed: true })).toThrow('streamResponse requestId `a` is already active');
    begin('b', { streamed: true });
  });

  it('are free again at the end', () => {
    const { begin } = open();
    const first = begin('a', { streamed: true });
    first.end();
    const second = begin('a', { streamed: true });
    // The end of the first is over; it takes nothing from the second.
    first.end();
    expect(() => begin('a', { streamed: true })).toThrow(failing('refused'));
    expect([first.signal.aborted, second.signal.aborted]).toEqual([true, false]);
  });
});

describe('limits', () => {
  it('bound how many run', () => {
    const { begin } = open();
    const first = begin('1');
    begin('2');
    begin('3');
    expect(() => begin('4')).toThrow(failing('overloaded'));
    first.end();
    begin('4');
  });

  it('bound what is buffered by all together', () => {
    const { begin } = open();
    const first = begin('1');
    const second = begin('2');
    first.buffer(4);
    second.buffer(5);
    second.buffer(1);
    expect(() => first.buffer(1)).toThrow(failing('body-too-large'));
    second.end();
    first.buffer(6);
    expect(() => first.buffer(1)).toThrow('response bodies exceed the limit of 10 buffered bytes');
  });
});

describe('the time', () => {
  it('that is up aborts', () => {
    const { begin, clock } = open();
    const { signal } = begin('a', { timeoutMs: 100 });
    clock.advance(99);
    expect(signal.aborted).toBe(false);
    clock.advance(1);
    expect(signal.aborted).toBe(true);
    expect(signal.reason).not.toBeInstanceOf(HttpError);
  });

  it('of none is up at once', () => {
    expect(() => open().begin('a', { timeoutMs: 0 })).toThrow('route-aware request timed out');
  });

  it('leaves no timer behind', () => {
    const { begin, clock } = open();
    begin('a', { timeoutMs: 100 }).end();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('cancelling', () => {
  it('ends all requests of an id', () => {
    const { begin, requests } = open();
    const same = [begin('a'), begin('a', { streamed: true })];
    const other = begin('b');
    expect(requests.cancel('a')).toBe(true);
    expect(same.map(({ signal }) => signal.reason)).toEqual([failing('cancelled'), failing('cancelled')]);
    expect(other.signal.aborted).toBe(false);
  });

  it('finds nothing where nothing runs', () => {
    const { begin, requests } = open();
    begin('a').end();
    expect(requests.cancel('a')).toBe(false);
  });

  it('happens to all at the end of the connection, and to those that come later', () => {
    const { begin, requests } = open();
    const request = begin('a');
    requests.close();
    expect([request.signal.aborted, begin('b').signal.aborted]).toEqual([true, true]);
  });
});
