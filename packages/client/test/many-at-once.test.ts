import { getEventListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { collect, openMachine, sh } from './support/machine.js';

/** More than the ten listeners from which on Node takes it for a leak. */
const MANY = 25;

function atOnce<T>(start: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: MANY }, (_, index) => start(index)));
}

/** A signal for many calls, and the warnings of this process. */
function watch() {
  const { signal } = new AbortController();
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const expectQuiet = async () => {
    // Warnings are told in a later turn than that which causes them.
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
    expect(getEventListeners(signal, 'abort').length).toBeLessThanOrEqual(1);
  };
  return { signal, expectQuiet };
}

it('many processes on one client, with one signal, are no leak', async () => {
  const machine = await openMachine();
  const { signal, expectQuiet } = watch();
  const handles = await atOnce(() => machine.spawn(sh('echo ready; cat'), { stdin: 'pipe', signal }));
  await Promise.all(handles.map((handle) => handle.waitFor({ line: 'ready', signal })));
  const texts = handles.map(async (handle) => (await collect(handle.lines('stdout', { signal }))).join());
  const ends = handles.map((handle) => handle.wait({ signal }));
  await expectQuiet();
  await Promise.all(handles.map((handle, index) => handle.stdin.end(`line ${index}`)));
  expect(await Promise.all(texts)).toEqual(handles.map((_, index) => `ready,line ${index}`));
  await Promise.all(ends);
  const results = await atOnce(() => machine.run(sh('echo ran'), { signal }));
  expect(new Set(results.map(({ stdout }) => stdout.text()))).toEqual(new Set(['ran\n']));
  await expectQuiet();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('nor are many files', async () => {
  const machine = await openMachine();
  const { signal, expectQuiet } = watch();
  const directory = await mkdtemp(join(tmpdir(), 'many-at-once-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await atOnce((index) => machine.fs.writeFile(join(directory, String(index)), 'text', { signal }));
  const streams = await atOnce(async (index) =>
    machine.fs.createReadStream(join(directory, String(index)), { signal }),
  );
  await expectQuiet();
  for (const stream of streams) expect(await new Response(stream).text()).toBe('text');
  await expectQuiet();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
