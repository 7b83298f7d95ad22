import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { type FixtureName, fixture } from '../src/fixture.js';
import { isRunning, waitForProcessGone } from '../src/wait-for-process-gone.js';

const started: ChildProcessByStdio<Writable, Readable, Readable>[] = [];

function start(name: FixtureName, ...args: string[]): ChildProcessByStdio<Writable, Readable, Readable> {
  const child = spawn(fixture(name), args, { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  started.push(child);
  return child;
}

/** Ends the whole group, which also holds what a fixture left behind. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All of them have gone.
  }
}

afterEach(() => {
  for (const child of started.splice(0)) killGroup(child.pid);
});

async function firstLine(child: { readonly stdout: Readable }): Promise<string> {
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return chunk.toString().trim();
}

test('ignore-sigterm outlives SIGTERM', async () => {
  const child = start('ignore-sigterm');
  expect(await firstLine(child)).toBe('ready');
  child.kill('SIGTERM');
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([null, 'SIGINT']);
});

test('fork-and-exit leaves a child behind that holds no stream', async () => {
  const child = start('fork-and-exit');
  const [output] = await Promise.all([buffer(child.stdout), once(child, 'close')]);
  const pid = Number(output.toString());
  expect(isRunning(pid)).toBe(true);
  killGroup(child.pid);
  await waitForProcessGone(pid);
});

test('hold-pipe exits while its child keeps the streams open', async () => {
  const child = start('hold-pipe');
  const [pid] = await Promise.all([firstLine(child), once(child, 'exit')]);
  expect(child.stdout.readableEnded).toBe(false);
  process.kill(Number(pid), 'SIGKILL');
  await once(child, 'close');
});

test('setsid-grandchild has a child that a signal to the group does not reach', async () => {
  const child = start('setsid-grandchild');
  const pid = Number(await firstLine(child));
  killGroup(child.pid);
  await once(child, 'exit');
  expect(isRunning(pid)).toBe(true);
  process.kill(pid, 'SIGKILL');
  await waitForProcessGone(pid);
});

test('print-20k prints 20,480 bytes', async () => {
  const output = await buffer(start('print-20k').stdout);
  expect(output).toHaveLength(20_480);
  expect(output.toString()).toMatch(/^000000000\n[0-9\n]*000002047\n$/);
});

test('split-utf8 breaks a character in two', async () => {
  const child = start('split-utf8');
  const [head] = (await once(child.stdout, 'data')) as [Buffer];
  child.stdin.end('\n');
  const tail = await buffer(child.stdout);
  expect(head).toEqual(Buffer.from([0xe2]));
  expect(Buffer.concat([head, tail]).toString()).toBe('€\n');
});

test('never-read-stdin lets what is written to it pile up', async () => {
  const child = start('never-read-stdin');
  child.stdin.on('error', () => {});
  expect(await firstLine(child)).toBe('ready');
  expect(child.stdin.write(Buffer.alloc(1024 * 1024))).toBe(false);
  expect(child.stdin.writableLength).toBeGreaterThan(0);
});

test('flood prints as many bytes as it is told', async () => {
  expect(await buffer(start('flood', '100000').stdout)).toHaveLength(100_000);
});

test('flood without a number goes on', async () => {
  const child = start('flood');
  await once(child.stdout, 'data');
  await once(child.stdout, 'data');
  expect(child.exitCode).toBe(null);
});
