import { expect, it } from 'vitest';
import { ProcessSinks } from '../../src/dialects/process-sinks.js';
import type { OutputSink } from '../../src/output/output-sink.js';

const sink: OutputSink = {
  writable: true,
  whenWritable: () => Promise.resolve(),
  output() {},
  exited() {},
  closed() {},
};

it('has a sink ready while its process starts, and no longer', async () => {
  const sinks = new ProcessSinks();
  expect(await sinks.during('p', sink, async () => sinks.take('p'))).toBe(sink);
  expect(() => sinks.take('p')).toThrow('without a sink');
});

it('nor after a start that failed', async () => {
  const sinks = new ProcessSinks();
  await expect(sinks.during('p', sink, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(() => sinks.take('p')).toThrow('without a sink');
});
