import { getEventListeners, once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { addAbortListener, removeAbortListener } from '../src/abort-listeners.js';

const countNative = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

it('a signal has one listener of the platform for any number of ours, and none without', () => {
  const { signal } = new AbortController();
  const all = Array.from({ length: 25 }, () => () => {});
  for (const listener of all) addAbortListener(signal, listener);
  expect(countNative(signal)).toBe(1);
  for (const listener of all.slice(1)) removeAbortListener(signal, listener);
  expect(countNative(signal)).toBe(1);
  removeAbortListener(signal, all[0]!);
  expect(countNative(signal)).toBe(0);
});

it('calls those that are left once each, in their order, with the reason in place', () => {
  const controller = new AbortController();
  const { signal } = controller;
  const called: string[] = [];
  const removed = () => called.push('removed');
  addAbortListener(signal, () => called.push(`first ${signal.reason}`));
  addAbortListener(signal, removed);
  addAbortListener(signal, () => called.push('last'));
  removeAbortListener(signal, removed);
  controller.abort('enough');
  controller.abort('again');
  expect(called).toEqual(['first enough', 'last']);
  expect(countNative(signal)).toBe(0);
});

it('one that another removes meanwhile is not called', () => {
  const controller = new AbortController();
  const called: string[] = [];
  const second = () => called.push('second');
  addAbortListener(controller.signal, () => removeAbortListener(controller.signal, second));
  addAbortListener(controller.signal, second);
  controller.abort();
  expect(called).toEqual([]);
});

it('does nothing without a signal, or with one that has aborted', () => {
  const listener = () => expect.unreachable();
  addAbortListener(undefined, listener);
  removeAbortListener(undefined, listener);
  addAbortListener(AbortSignal.abort(), listener);
  removeAbortListener(new AbortController().signal, listener);
});

it('one that throws does not keep the others from being called, and is not hidden', async () => {
  const kept = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  onTestFinished(() => {
    for (const listener of kept) process.on('uncaughtException', listener);
  });
  const thrown = once(process, 'uncaughtException');
  const controller = new AbortController();
  const failure = new Error('listener');
  const called: string[] = [];
  addAbortListener(controller.signal, () => {
    throw failure;
  });
  addAbortListener(controller.signal, () => called.push('second'));
  controller.abort();
  expect(called).toEqual(['second']);
  expect((await thrown)[0]).toBe(failure);
});
