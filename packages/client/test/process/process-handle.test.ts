import { fixture, isRunning, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { LaggedError } from '../../src/errors.js';
import { ExitError, WaitTimeoutError } from '../../src/process/errors.js';
import type { ProcessHandle } from '../../src/process/process-handle.js';
import { collect, openMachine, sh } from '../support/machine.js';

/** The first line of a process's output. */
async function firstLine(handle: ProcessHandle): Promise<string> {
  return handle.waitFor({ line: '' });
}

describe('a handle', () => {
  it('knows its process, and its outcome once there is one', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('read line; exit 7'), { id: 'seven', stdin: 'pipe' });
    expect(handle).toMatchObject({ id: 'seven', sessionId: machine.sessionId, outcome: undefined });
    expect(isRunning(handle.pid as number)).toBe(true);
    await handle.stdin.end();
    expect(await handle.wait()).toEqual({ kind: 'exited', exitCode: 7 });
    expect(handle.outcome).toEqual({ kind: 'exited', exitCode: 7 });
  });

  it('communicates: writes, closes stdin, waits and collects', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(['sort'], { stdin: 'pipe' });
    const result = await handle.communicate('b\na\n');
    expect(result.stdout.text()).toBe('a\nb\n');
    expect(result.exitCode).toBe(0);
  });

  it('communicates with a process that has no stdin by an error, not by silence', async () => {
    const machine = await openMachine();
    await using handle = await machine.spawn(['cat']);
    await expect(handle.communicate('lost')).rejects.toMatchObject({
      code: 'usage',
      message: "the process was started without stdin; start it with `stdin: 'pipe'`",
    });
  });

  it('is itself the sequence of its events', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('echo here; exit 3'));
    await handle.result();
    expect(await collect(handle)).toEqual(await collect(handle.events()));
  });

  it('waits longer than a timer can', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('sleep 0.2; exit 3'));
    expect(await handle.wait({ timeoutMs: 2 ** 31 })).toEqual({ kind: 'exited', exitCode: 3 });
  });

  it('has no options that are accepted and ignored', async () => {
    const machine = await openMachine();
    const bogus = <T>(options: unknown) => options as T;
    for (const options of [{ stdin: 'inherit' }, { output: { maxBytes: 1 } }])
      await expect(machine.spawn(['true'], bogus(options))).rejects.toMatchObject({ code: 'usage' });
    await using handle = await machine.spawn(['sleep', '300'], { id: 'strict' });
    await expect(handle.terminate(bogus({ grace: 1 }))).rejects.toMatchObject({ code: 'usage' });
    await expect(collect(handle.stdout.lines(bogus({ afterSeq: 1 })))).rejects.toMatchObject({
      code: 'usage',
    });
    for (const options of [{ mode: 'watch' }, { output: { spill: true } }])
      await expect(machine.attach('strict', bogus(options))).rejects.toMatchObject({ code: 'usage' });
    expect(handle.outcome).toBeUndefined();
  });

  it('gives up waiting when told to, and the process goes on', async () => {
    const machine = await openMachine();
    await using handle = await machine.spawn(sh('echo begun; sleep 300'));
    await firstLine(handle);
    const error = await handle.wait({ timeoutMs: 1 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect(error).toMatchObject({ code: 'wait_timeout', retryable: true });
    expect((error as WaitTimeoutError).result.stdout.text()).toBe('begun\n');
    const reason = new Error('no time');
    await expect(handle.wait({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(isRunning(handle.pid as number)).toBe(true);
  });

  it('sends every signal', async () => {
    const machine = await openMachine();
    const script = 'trap "echo got; exit 5" USR1; echo ready; while :; do sleep 0.05; done';
    await using handle = await machine.spawn(sh(script));
    await handle.waitFor({ line: 'ready' });
    await handle.signal('SIGUSR1');
    expect(await handle.stdout.text()).toBe('ready\ngot\n');
    expect(await handle.wait()).toEqual({ kind: 'exited', exitCode: 5 });
  });

  it('sends an interrupt, and nothing else, to a server that knows no other', async () => {
    const machine = await openMachine({ disabledCapabilities: ['processSignals'] });
    await using handle = await machine.spawn(['sleep', '300']);
    await expect(handle.signal('SIGUSR1')).rejects.toMatchObject({ code: 'capability_missing' });
    await handle.signal('SIGINT');
    expect(await handle.wait()).toMatchObject({ signal: 'SIGINT' });
  });

  it('is unknown to nobody after its process has ended', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('echo late'));
    await handle.result();
    expect(await handle.stdout.text()).toBe('late\n');
    expect((await collect(handle.events())).map(({ type }) => type).sort()).toEqual([
      'closed',
      'exited',
      'output',
    ]);
    expect(handle.cursor).toBe(3);
  });
});

describe('output', () => {
  it('comes as bytes, streams, text and lines', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('echo one; echo two >&2; printf three'));
    const [bytes, streamed, text, lines, errors] = await Promise.all([
      collect(handle.stdout),
      new Response(handle.stdout.stream()).text(),
      handle.stdout.text(),
      collect(handle.lines('stdout')),
      collect(handle.stderr.lines()),
    ]);
    expect(Buffer.concat(bytes).toString()).toBe('one\nthree');
    expect(streamed).toBe('one\nthree');
    expect(text).toBe('one\nthree');
    expect(lines).toEqual(['one', 'three']);
    expect(errors).toEqual(['two']);
    expect((await collect(handle.lines())).sort()).toEqual(['one', 'three', 'two']);
  });

  it('joins characters that came in pieces', async () => {
    const machine = await openMachine();
    await using handle = await machine.spawn([fixture('split-utf8')], { stdin: 'pipe' });
    const lines = collect(handle.lines('stdout'));
    for await (const event of handle.events()) if (event.type === 'output') break;
    await handle.stdin.write('\n');
    expect(await lines).toEqual(['€']);
    expect((await handle.result()).all.text()).toBe('€\n');
  });

  it('mixes characters and not bytes where both streams are shown', async () => {
    const machine = await openMachine();
    const script = "printf '\\342'; sleep 0.2; printf 'E' >&2; sleep 0.2; printf '\\202\\254'";
    const result = await machine.run(sh(script));
    expect(result.all.text()).toBe('E€');
    expect(result.all.totalBytes).toBe(4);
  });

  it('stops when told to, without an error, and leaves the process alone', async () => {
    const machine = await openMachine();
    await using handle = await machine.spawn(sh('echo tick; exec sleep 300'));
    const controller = new AbortController();
    const seen: string[] = [];
    for await (const line of handle.lines('stdout', { signal: controller.signal })) {
      seen.push(line);
      controller.abort();
    }
    expect(seen).toEqual(['tick']);
    const reader = handle.stdout.stream().getReader();
    await reader.read();
    const waiting = reader.read();
    await reader.cancel();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(isRunning(handle.pid as number)).toBe(true);
  });

  it('that nobody has any more is a LaggedError with the range, and the rest can be read', async () => {
    const machine = await openMachine({ retainedOutputBytes: 64 * 1024 });
    await using handle = await machine.spawn([fixture('flood'), String(8 * 1024 * 1024)]);
    const slow = handle.events({ from: 0, slowReader: 'lag' });
    await slow.next();
    await handle.result();
    const error = await collect(slow).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LaggedError);
    const { fromSeq, toSeq } = error as LaggedError;
    expect(fromSeq).toBe(2);
    const rest = await collect(handle.events({ from: toSeq }));
    expect(rest[0]).toMatchObject({ seq: toSeq + 1 });
    expect(rest.at(-1)).toMatchObject({ type: 'closed', seq: handle.cursor });
    await expect(handle.stdout.text()).rejects.toBeInstanceOf(LaggedError);
    expect((await collect(handle.lines('stdout'))).at(-2)).toBe('0123456789abcdef');
  });

  it('collects all of a flood in bounded memory', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn([fixture('flood'), String(8 * 1024 * 1024)]);
    const { stdout, droppedBytes } = await handle.result();
    expect(stdout.totalBytes).toBe(8 * 1024 * 1024);
    expect(stdout.head.length + stdout.tail.length).toBe(2 * 1024 * 1024);
    expect(droppedBytes).toBe(6 * 1024 * 1024);
  });
});

describe('stdin', () => {
  it('takes writes in order, and what is written as a stream', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(['cat'], { stdin: 'pipe' });
    void handle.stdin.write('one ');
    await handle.stdin.write(new TextEncoder().encode('two '));
    const writer = handle.stdin.writable.getWriter();
    await writer.write('three');
    await writer.close();
    expect(await handle.stdout.text()).toBe('one two three');
  });

  it('holds a writer back when nobody reads', async () => {
    const machine = await openMachine({ stdinQueueBytes: 64 * 1024 });
    await using handle = await machine.spawn([fixture('never-read-stdin')], { stdin: 'pipe' });
    let settled = false;
    const writing = handle.stdin.write(new Uint8Array(4 * 1024 * 1024)).then(
      () => {
        settled = true;
      },
      () => {},
    );
    // The answer to a later call shows that an earlier one could have been answered.
    await machine.client.call('process/read', { processId: handle.id });
    await machine.environment();
    expect(settled).toBe(false);
    await handle.terminate({ graceMs: 0 });
    await writing;
  });

  it('is a usage error where there is none, or none any more', async () => {
    const machine = await openMachine();
    await using without = await machine.spawn(['sleep', '300']);
    await expect(without.stdin.write('x')).rejects.toMatchObject({ code: 'usage' });
    await using ended = await machine.spawn(['sleep', '300'], { stdin: 'pipe' });
    await ended.stdin.end();
    await ended.stdin.end();
    await expect(ended.stdin.write('x')).rejects.toMatchObject({ code: 'usage' });
  });

  it('cannot be closed on a server that cannot', async () => {
    const machine = await openMachine({ disabledCapabilities: ['processCloseStdin'] });
    await using handle = await machine.spawn(['cat'], { stdin: 'pipe' });
    await expect(handle.stdin.end()).rejects.toMatchObject({ code: 'capability_missing' });
    await expect(machine.run(['cat'], { input: 'x' })).rejects.toMatchObject({ code: 'capability_missing' });
  });
});

describe('terminate', () => {
  it('ends what a process that has ended left running', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('sleep 300 >/dev/null 2>&1 & echo $!'));
    const left = Number(await firstLine(handle));
    await handle.result();
    expect(isRunning(left)).toBe(true);
    expect(await handle.terminate()).toMatchObject({ wasRunning: false, pids: [left] });
    expect(isRunning(left)).toBe(false);
  });

  it('ends the tree with grace, and tells whom it told what', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn([fixture('setsid-grandchild')]);
    const grandchild = Number(await firstLine(handle));
    const result = await handle.terminate({ graceMs: 5000 });
    expect(result).toMatchObject({
      wasRunning: true,
      signal: 'SIGTERM',
      graceMs: 5000,
      outcome: { kind: 'signaled', signal: 'SIGTERM' },
    });
    expect(result.pids).toEqual(expect.arrayContaining([handle.pid, grandchild]));
    await waitForProcessGone(grandchild);
    expect(await handle.terminate()).toMatchObject({ wasRunning: false, pids: [] });
  });

  it('kills what ignores it after the grace, or at once without any', async () => {
    const machine = await openMachine();
    for (const graceMs of [50, 0]) {
      const handle = await machine.spawn([fixture('ignore-sigterm')]);
      await handle.waitFor({ line: 'ready' });
      expect((await handle.terminate({ graceMs })).outcome).toMatchObject({ signal: 'SIGKILL' });
    }
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'after %s resolves when the last of the tree is gone',
    async (signal) => {
      const machine = await openMachine();
      const child = `trap "" TERM INT; echo "$$"; exec >/dev/null 2>&1; while :; do sleep 0.05; done`;
      const handle = await machine.spawn(sh(`setsid sh -c '${child}' & trap 'exit 0' TERM INT; wait; wait`));
      const stubborn = Number(await firstLine(handle));
      const { outcome } = await handle.terminate({ signal, graceMs: 300 });
      expect(isRunning(stubborn)).toBe(false);
      expect(outcome).toEqual({ kind: 'exited', exitCode: 0 });
    },
  );

  it('has its own grace where none is said', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(['sleep', '300'], { graceMs: 4321 });
    const unsaid = { graceMs: undefined, signal: undefined } as object;
    expect(await handle.terminate(unsaid)).toMatchObject({ signal: 'SIGTERM', graceMs: 4321 });
  });

  it('begins with another signal when asked to', async () => {
    const machine = await openMachine();
    const script = 'trap "exit 9" INT; echo ready; while :; do sleep 0.05; done';
    const handle = await machine.spawn(sh(script));
    await handle.waitFor({ line: 'ready' });
    const result = await handle.terminate({ signal: 'SIGINT', graceMs: 20_000 });
    expect(result).toMatchObject({ signal: 'SIGINT', outcome: { kind: 'exited', exitCode: 9 } });
  });

  it('kills at once, and says so, on a server without grace', async () => {
    const machine = await openMachine({
      disabledCapabilities: ['processGracefulTerminate', 'processSignals'],
    });
    const handle = await machine.spawn(['sleep', '300']);
    expect(await handle.terminate()).toMatchObject({
      signal: 'SIGKILL',
      graceMs: 0,
      outcome: { kind: 'signaled', signal: 'SIGKILL' },
    });
  });

  it('happens at the end of the block, unless it was detached', async () => {
    const machine = await openMachine();
    let ended: ProcessHandle;
    let left: ProcessHandle;
    {
      await using first = await machine.spawn(['sleep', '300']);
      await using second = await machine.spawn(['sleep', '300']);
      second.detach();
      [ended, left] = [first, second];
    }
    expect(isRunning(ended.pid as number)).toBe(false);
    expect(isRunning(left.pid as number)).toBe(true);
    expect(await left.wait()).toEqual({ kind: 'unknown', reason: 'its handle was detached' });
  });
});

describe('an aborted start', () => {
  it('leaves nothing behind, and a started process alone', async () => {
    const machine = await openMachine();
    const controller = new AbortController();
    const reason = new Error('changed my mind');
    const starting = machine.spawn(['sleep', '300'], { id: 'cancelled', signal: controller.signal });
    controller.abort(reason);
    await expect(starting).rejects.toBe(reason);
    await expect
      .poll(async () => (await collect(machine.processes.list())).filter(({ state }) => state === 'running'))
      .toEqual([]);
    const started = new AbortController();
    await using handle = await machine.spawn(['sleep', '300'], { signal: started.signal });
    started.abort();
    expect(isRunning(handle.pid as number)).toBe(true);
  });
});

describe('a snapshot', () => {
  it('tells how the output began and how it goes on', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('echo out; echo err >&2; exit 3'));
    await handle.result();
    const snapshot = await handle.snapshot();
    expect(snapshot).toMatchObject({ outcome: { kind: 'exited', exitCode: 3 }, cursor: handle.cursor });
    expect(snapshot.stdout.text()).toBe('out\n');
    expect(snapshot.stderr.text()).toBe('err\n');
  });

  it('is refused by a server that has none', async () => {
    const machine = await openMachine({ disabledCapabilities: ['processSnapshot'] });
    const handle = await machine.spawn(['true']);
    await expect(handle.snapshot()).rejects.toMatchObject({ code: 'capability_missing' });
  });
});

describe('a lost connection', () => {
  it('ends the iteration with what happened, and the wait with `unknown`', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('echo begun; sleep 300'));
    await firstLine(handle);
    const events = collect(handle.events());
    const text = handle.stdout.text();
    text.catch(() => {});
    await machine.close();
    expect((await events).map(({ type }) => type)).toEqual(['output', 'failed']);
    expect(await handle.wait()).toMatchObject({
      kind: 'unknown',
      reason: expect.stringContaining('disconnected'),
    });
    await expect(text).rejects.toMatchObject({ code: 'connection_lost', lastSeq: 1 });
    await expect(handle.waitFor({ line: 'never' })).rejects.toMatchObject({ code: 'connection_lost' });
    expect(handle.failure).toMatchObject({ code: 'connection_lost' });
  });
});

describe('a process that ends before what is waited for', () => {
  it('is an ExitError with its result', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('echo oops >&2; exit 2'));
    const error = await handle.waitFor({ line: /ready/ }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ExitError);
    expect(error).toMatchObject({ message: '/bin/sh exited with code 2 before /ready/ showed' });
    expect((error as ExitError).result.stderr.text()).toBe('oops\n');
  });
});
