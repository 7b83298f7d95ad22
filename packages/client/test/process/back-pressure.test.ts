import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fixture } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LaggedError } from '../../src/errors.js';
import { ExecServerClient } from '../../src/low-level/exec-server-client.js';
import { STUCK_MS } from '../../src/low-level/reader-pace.js';
import { Machine } from '../../src/machine.js';
import { collect, connectTo, openMachine, openMachineOn, openServer, sh } from '../support/machine.js';
import { ManualClock } from '../support/manual-clock.js';

/** Far less than what is written, so that a reader who is not waited for misses something. */
const RETAINED = { retainedOutputBytes: 64 * 1024 };
const FLOOD_BYTES = 6 * 1024 * 1024;

async function tempFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pressure-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return join(directory, 'done');
}

/** Writes a flood and makes a file behind it. */
const floodThen = (file: string) => sh('"$1" "$2"; : > "$3"', fixture('flood'), String(FLOOD_BYTES), file);

describe('a slow reader', () => {
  it('gets everything of a stream, and slows only its own process', async () => {
    const machine = await openMachine(RETAINED);
    const file = await tempFile();
    await using slow = await machine.spawn(floodThen(file));
    const reader = slow.stdout.stream().getReader();
    let bytes = (await reader.read()).value?.length ?? 0;
    // Another one of the same connection comes to its end meanwhile, and so do calls.
    const other = await machine.spawn([fixture('flood'), String(FLOOD_BYTES)]);
    let others = 0;
    for await (const data of other.stdout) others += data.length;
    expect(others).toBe(FLOOD_BYTES);
    expect(existsSync(file)).toBe(false);
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      bytes += read.value.length;
      await nextTurn();
    }
    expect(bytes).toBe(FLOOD_BYTES);
    expect(await slow.wait()).toEqual({ kind: 'exited', exitCode: 0 });
    expect(existsSync(file)).toBe(true);
  });

  it('gets every line, with what collects beside it', async () => {
    const machine = await openMachine(RETAINED);
    await using handle = await machine.spawn(['seq', '400000']);
    const result = handle.result();
    let expected = 1;
    for await (const line of handle.lines('stdout')) {
      if (line !== String(expected)) expect(line).toBe(String(expected));
      if (expected++ % 1000 === 0) await nextTurn();
    }
    expect(expected).toBe(400_001);
    expect(await result).toMatchObject({ exitCode: 0, outputOpen: false });
  });

  it('that comes late begins with what is retained, and misses nothing from there on', async () => {
    const machine = await openMachine();
    await using handle = await machine.spawn(sh('seq 1 50000; read -r go; seq 50001 400000'), {
      stdin: 'pipe',
    });
    await handle.waitFor({ line: /^50000$/ });
    await handle.stdin.write('go\n');
    const lines: string[] = [];
    for await (const line of handle.lines('stdout')) {
      lines.push(line);
      if (lines.length % 1000 === 0) await nextTurn();
    }
    expect(lines).toHaveLength(400_000);
  });

  it('that has ended its reading is not waited for', async () => {
    const machine = await openMachine(RETAINED);
    const file = await tempFile();
    await using handle = await machine.spawn(floodThen(file));
    for await (const _ of handle.lines('stdout')) break;
    const stream = handle.stdout.stream();
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    expect(await handle.wait()).toEqual({ kind: 'exited', exitCode: 0 });
  });

  it('that has not begun is not waited for', async () => {
    const machine = await openMachine(RETAINED);
    await using handle = await machine.spawn([fixture('flood'), String(FLOOD_BYTES)]);
    const unread = [handle.events(), handle.lines(), handle.stdout.stream()];
    expect((await handle.result()).stdout.totalBytes).toBe(FLOOD_BYTES);
    expect(unread).toHaveLength(3);
  });

  it('does not keep a process from being terminated, and gets what it wrote', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('trap "echo last words; exit 0" TERM; yes; :'));
    const lines = handle.lines('stdout');
    await lines.next();
    const { outcome } = await handle.terminate({ graceMs: 60_000 });
    expect(outcome.kind).not.toBe('unknown');
    let last = '';
    for await (const line of lines) last = line;
    expect(last).toBe('last words');
  });

  it.each(['events', 'lines', 'bytes'] as const)(
    'misses what it is too slow for where it asked for that: %s',
    async (how) => {
      const machine = await openMachine(RETAINED);
      await using handle = await machine.spawn([fixture('flood'), String(FLOOD_BYTES)]);
      const options = { slowReader: 'lag', from: 0 } as const;
      const reading: AsyncIterator<unknown> =
        how === 'events' ? handle.events(options) : handle.stdout[how](options);
      await reading.next();
      await handle.result();
      const error = await collect({ [Symbol.asyncIterator]: () => reading }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(LaggedError);
    },
  );

  it('that only views a process slows nobody', async () => {
    const server = openServer(RETAINED);
    const owner = await openMachineOn(server);
    const file = await tempFile();
    await using handle = await owner.spawn(floodThen(file), { id: 'p' });
    const viewing = await (await openMachineOn(server)).attach('p', { mode: 'view' });
    const reading = viewing.events();
    await reading.next();
    expect(await handle.wait()).toEqual({ kind: 'exited', exitCode: 0 });
    viewing.detach();
  });

  it('that attached to drive a process is waited for', async () => {
    const server = openServer(RETAINED);
    const owner = await openMachineOn(server);
    await using handle = await owner.spawn(
      sh('read -r go; exec "$1" "$2"', fixture('flood'), String(FLOOD_BYTES)),
      {
        id: 'p',
        stdin: 'pipe',
      },
    );
    const driving = await (await openMachineOn(server)).attach('p');
    await handle.stdin.write('go\n');
    let bytes = 0;
    for await (const data of driving.stdout) {
      bytes += data.length;
      await nextTurn();
    }
    expect(bytes).toBe(FLOOD_BYTES);
    driving.detach();
  });

  it('lags where the server cannot hold a process', async () => {
    const machine = await openMachine({ ...RETAINED, disabledCapabilities: ['processHold'] });
    await using handle = await machine.spawn([fixture('flood'), String(FLOOD_BYTES)]);
    const reading = handle.events({ from: 0 });
    await reading.next();
    await handle.result();
    const error = await collect(reading).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LaggedError);
  });
});

describe('two readings of one process', () => {
  it('go on where one waits for the other, and nothing is missed', async () => {
    const clock = new ManualClock();
    const [transport] = connectTo(openServer(RETAINED));
    const machine = new Machine(await ExecServerClient.connect(transport, { clock, keepAlive: false }));
    onTestFinished(() => machine.close());
    await using handle = await machine.spawn(sh('seq 1 400000; echo end'));
    let count = 0;
    let awaited: string | undefined;
    for await (const line of handle.lines('stdout')) {
      count++;
      // Without help this waits for output that is held back for the loop around it.
      if (line !== '1') continue;
      const waiting = handle.waitFor({ line: 'end' });
      void waiting.then((found) => {
        awaited = found;
      });
      while (awaited === undefined) {
        await Promise.race([waiting, clock.started(STUCK_MS)]);
        clock.advance(STUCK_MS);
        await nextTurn();
      }
    }
    expect(awaited).toBe('end');
    expect(count).toBe(400_001);
  });
});
