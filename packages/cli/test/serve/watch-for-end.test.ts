import { type Listener, silentLogger } from '@exec-server/server';
import { beforeEach, expect, it } from 'vitest';
import { type EndWatch, watchForEnd } from '../../src/serve/watch-for-end.js';
import { FakeIo } from '../support.js';

let io: FakeIo;
let watch: EndWatch;
beforeEach(() => {
  io = new FakeIo();
  watch = watchForEnd(io, silentLogger);
});

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('ends with 0 at %s', async (signal) => {
  io.signal(signal);
  expect(await watch.end).toBe(0);
  expect(io.exits).toEqual([]);
});

it.each([
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('exits at once at a second signal: %s with %d', (signal, code) => {
  io.signal('SIGINT');
  io.signal(signal);
  expect(io.exits).toEqual([code]);
});

it('ends with 1 at an error that nobody caught', async () => {
  io.fail(new Error('boom'));
  io.signal('SIGTERM');
  expect(await watch.end).toBe(1);
});

it('goes on at a rejection that nobody handles', async () => {
  io.reject(new Error('boom'));
  io.signal('SIGTERM');
  expect(await watch.end).toBe(0);
});

it('ends with 0 at the end of a listener', async () => {
  const listener: Listener = { url: 'stdio', ended: Promise.resolve(), close: async () => {} };
  watch.endWith(listener);
  expect(await watch.end).toBe(0);
});

it('leaves nothing behind when it stops', () => {
  expect(io.listeners).toBe(3);
  watch.stop();
  expect(io.listeners).toBe(0);
});
