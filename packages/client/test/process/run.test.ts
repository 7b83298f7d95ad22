import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixture, isRunning, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ExecServerError } from '../../src/errors.js';
import { ExitError, partialResultOf } from '../../src/process/errors.js';
import { OutputTruncatedError } from '../../src/process/output-truncated-error.js';
import { collect, nextOutput, openMachine, sh } from '../support/machine.js';

/** Ends a process that a test left behind on purpose. */
function killAfterTest(pid: number): void {
  onTestFinished(async () => {
    process.kill(pid, 'SIGKILL');
    await waitForProcessGone(pid);
  });
}

describe('the result of a run', () => {
  it('tells code and output, each stream and both in order', async () => {
    const machine = await openMachine();
    const result = await machine.run(sh('echo out; sleep 0.05; echo err >&2; exit 3'));
    expect(result).toMatchObject({
      outcome: { kind: 'exited', exitCode: 3 },
      exitCode: 3,
      signal: undefined,
      timedOut: false,
      outputOpen: false,
      droppedBytes: 0,
      missed: [],
      spillPath: undefined,
    });
    expect(result.stdout.text()).toBe('out\n');
    expect(result.stdout.trimmed()).toBe('out');
    expect(result.stderr.lines()).toEqual(['err']);
    expect(result.all.text()).toBe('out\nerr\n');
    expect(result.durationMs).toBeGreaterThan(0);
  });

  it('tells the signal that ended it', async () => {
    const machine = await openMachine();
    const result = await machine.run(sh('kill -9 $$'));
    expect(result.outcome).toEqual({ kind: 'signaled', signal: 'SIGKILL', exitCode: 137 });
    expect(result).toMatchObject({ exitCode: 137, signal: 'SIGKILL' });
  });

  it('is an ExitError with `check` unless the code is 0', async () => {
    const machine = await openMachine();
    const failing = machine.run(sh('echo why >&2; exit 4'), { check: true });
    const error = await failing.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ExitError);
    expect(error).toMatchObject({ code: 'exit', message: '/bin/sh exited with code 4: why' });
    expect((error as ExitError).result.stderr.trimmed()).toBe('why');
    expect((await machine.run(['true'], { check: true })).exitCode).toBe(0);
  });

  it('is spawn_failed for a program that does not exist', async () => {
    const machine = await openMachine();
    await expect(machine.run(['/does/not/exist'])).rejects.toMatchObject({ code: 'spawn_failed' });
  });
});

describe('what a run is given', () => {
  it('has the directory and the variables that were asked for', async () => {
    const machine = await openMachine({ env: { ...process.env, HOME: '/root', OTHER: 'x' } });
    const script = 'pwd; printf "%s:%s:%s\\n" "$GREETING" "$OTHER" "$HOME"';
    const run = async (options: object) => (await machine.run(sh(script), options)).stdout.lines();
    expect(await run({ cwd: '/usr', env: { GREETING: 'hi', GONE: undefined } })).toEqual([
      '/usr',
      'hi::/root',
    ]);
    expect(await run({ cwd: 'file:///usr', inheritEnv: 'all' })).toEqual(['/usr', ':x:/root']);
    expect(await run({ cwd: new URL('file:///usr'), inheritEnv: 'none' })).toEqual(['/usr', '::']);
  });

  it("starts in the server's directory unless told otherwise", async () => {
    const machine = await openMachine();
    expect((await machine.run(['pwd'])).stdout.trimmed()).toBe(process.cwd());
  });

  it('sees what it is called', async () => {
    const machine = await openMachine();
    const result = await machine.run(['/bin/sh', '-c', 'echo $0'], { arg0: 'pretender' });
    expect(result.stdout.trimmed()).toBe('pretender');
  });

  it.each([
    ['a string', 'one two\n'],
    ['bytes', new TextEncoder().encode('one two\n')],
    ['an iterable', ['one ', new TextEncoder().encode('two\n')]],
    [
      'an async iterable',
      (async function* () {
        yield 'one ';
        yield 'two\n';
      })(),
    ],
    ['a stream', new Blob(['one two\n']).stream()],
  ])('reads %s', async (_, input) => {
    const machine = await openMachine();
    expect((await machine.run(['cat'], { input })).stdout.text()).toBe('one two\n');
  });

  it('reads more than any buffer holds', async () => {
    const machine = await openMachine();
    const input = 'x'.repeat(5 * 1024 * 1024);
    expect((await machine.run(['wc', '-c'], { input })).stdout.trimmed()).toBe(String(input.length));
  });

  it('may close its stdin early, or never read it', async () => {
    const machine = await openMachine();
    const input = 'x'.repeat(3 * 1024 * 1024);
    expect(await machine.run(sh('exec <&-; echo done'), { input })).toMatchObject({ exitCode: 0 });
    expect(await machine.run(['true'], { input })).toMatchObject({ exitCode: 0 });
  });

  it('ends its source when the process has ended', async () => {
    const machine = await openMachine();
    let ended = false;
    async function* endless() {
      try {
        for (;;) yield 'y\n';
      } finally {
        ended = true;
      }
    }
    const result = await machine.run(['head', '-n', '2'], { input: endless() });
    expect(result.stdout.text()).toBe('y\ny\n');
    await expect.poll(() => ended).toBe(true);
  });

  it('is terminated when its source fails, and rejects with what the source threw', async () => {
    const machine = await openMachine();
    const fault = new Error('source failed');
    const input = (async function* () {
      yield 'first\n';
      throw fault;
    })();
    const error = await machine.run(['cat'], { input }).catch((thrown: unknown) => thrown);
    expect(error).toBe(fault);
    expect(partialResultOf(error)?.outcome).toMatchObject({ kind: 'signaled', signal: 'SIGTERM' });
  });
});

describe('mistakes', () => {
  it.each<[string, string[], object, RegExp]>([
    ['a command line', 'ls -l' as unknown as string[], {}, /`sh`/],
    ['an empty command', [], {}, /at least the program/],
    ['an option that does not exist', ['true'], { timeout: 5 }, /timeout/],
    ['a time that is no number', ['true'], { timeoutMs: Number.NaN }, /timeoutMs/],
    ['a truncation that does not exist', ['true'], { output: { truncate: 'end' } }, /output.truncate/],
    ['a relative directory', ['true'], { cwd: 'src' }, /absolute/],
  ])('%s is a usage error', async (_, argv, options, message) => {
    const machine = await openMachine();
    const error = await machine.run(argv, options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ExecServerError);
    expect(error).toMatchObject({ code: 'usage', message: expect.stringMatching(message) });
  });

  it('a string is an error of the compiler, too', async () => {
    const machine = await openMachine();
    // @ts-expect-error a command is an array
    await expect(machine.run('ls')).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('limits on collected output', () => {
  it('keeps head and tail and counts the rest', async () => {
    const machine = await openMachine();
    const output = { headBytes: 20, tailBytes: 30, truncate: 'middle' } as const;
    const result = await machine.run([fixture('print-20k')], { output });
    expect(result.droppedBytes).toBe(20_480 - 50);
    expect(result.stdout.totalBytes).toBe(20_480);
    expect(result.stdout.text()).toBe(
      '000000000\n000000001\n\n[… 20430 bytes dropped …]\n000002045\n000002046\n000002047\n',
    );
  });

  it('refuses to pass a part for the whole, from the first byte on', async () => {
    const machine = await openMachine();
    const run = (tailBytes: number) =>
      machine.run([fixture('print-20k')], { output: { headBytes: 480, tailBytes } });
    expect((await run(20_000)).stdout.bytes()).toHaveLength(20_480);
    const { stdout, stderr, all } = await run(19_999);
    expect(() => stdout.text()).toThrow(
      expect.objectContaining({ code: 'output_truncated', droppedBytes: 1 }),
    );
    expect(() => stdout.bytes()).toThrow(OutputTruncatedError);
    expect(() => all.lines()).toThrow(OutputTruncatedError);
    expect(stderr.text()).toBe('');
  });

  it('spills the whole output to a file when asked to', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'spill-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const machine = await openMachine({ spillDirectory: directory });
    const result = await machine.run([fixture('print-20k')], {
      output: { headBytes: 10, tailBytes: 10, spill: true },
    });
    expect(result.spill).toMatchObject({ sizeBytes: 20_480, complete: true, truncated: false });
    expect((await readFile(result.spillPath as string)).length).toBe(20_480);
  });
});

describe('a timeout', () => {
  it('ends the process on the server and is a field of the result', async () => {
    const machine = await openMachine();
    const result = await machine.run(sh('echo begun; sleep 300'), { timeoutMs: 2000 });
    expect(result).toMatchObject({ timedOut: true, outcome: { kind: 'signaled', signal: 'SIGTERM' } });
    expect(result.stdout.text()).toBe('begun\n');
  });

  it('is an ExitError with `check` that tells of it, also for a program that then exits with 0', async () => {
    const machine = await openMachine();
    const tidy = sh('trap "exit 0" TERM; echo begun; while :; do sleep 0.05; done');
    const error = await machine
      .run(tidy, { timeoutMs: 2000, check: true })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ExitError);
    expect(error).toMatchObject({
      message: expect.stringMatching(/^\/bin\/sh exited with code 0 after its `timeoutMs` had passed/),
      result: { timedOut: true, exitCode: 0 },
    });
  });

  it('kills after the grace', async () => {
    const machine = await openMachine();
    const result = await machine.run([fixture('ignore-sigterm')], { timeoutMs: 2000, graceMs: 50 });
    expect(result).toMatchObject({ timedOut: true, signal: 'SIGKILL' });
  });

  it('is refused where the server cannot do it, and nothing is started', async () => {
    const machine = await openMachine({ disabledCapabilities: ['processTimeout'] });
    await expect(machine.run(['sleep', '300'], { timeoutMs: 10 })).rejects.toMatchObject({
      code: 'capability_missing',
      capability: 'processTimeout',
    });
    expect(await collect(machine.processes.list())).toEqual([]);
  });
});

describe('an abort', () => {
  it('terminates the tree and rejects with its reason, partial output kept', async () => {
    const machine = await openMachine();
    const controller = new AbortController();
    const reason = new Error('enough');
    const output = nextOutput(machine);
    const running = machine.run([fixture('setsid-grandchild')], { signal: controller.signal });
    const pid = Number(await output);
    controller.abort(reason);
    const error = await running.catch((thrown: unknown) => thrown);
    expect(error).toBe(reason);
    expect(partialResultOf(error)?.stdout.trimmed()).toBe(String(pid));
    await waitForProcessGone(pid);
  });

  it('before the start starts nothing', async () => {
    const machine = await openMachine();
    const reason = new Error('never mind');
    await expect(machine.run(['true'], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(await collect(machine.processes.list())).toEqual([]);
  });
});

describe('output that somebody else holds open', () => {
  it('does not keep run waiting', async () => {
    const machine = await openMachine();
    const result = await machine.run([fixture('hold-pipe')]);
    expect(result).toMatchObject({ exitCode: 0, outputOpen: true });
    const pid = Number(result.stdout.trimmed());
    expect(isRunning(pid)).toBe(true);
    killAfterTest(pid);
  });

  it('does not either when it is written to without end', async () => {
    const machine = await openMachine();
    const script = 'yes tick & echo "$!" >&2';
    const result = await machine.run(sh(script));
    expect(result).toMatchObject({ exitCode: 0, outputOpen: true });
    killAfterTest(Number(result.stderr.trimmed()));
  });
});

describe('a connection that is lost for good', () => {
  it('makes the outcome unknown and never a code', async () => {
    const machine = await openMachine();
    const output = nextOutput(machine);
    const running = machine.run(sh('echo begun; sleep 300'));
    await output;
    await machine.close();
    const result = await running;
    expect(result.outcome).toMatchObject({ kind: 'unknown' });
    expect(result.exitCode).toBeUndefined();
    expect(result.stdout.text()).toBe('begun\n');
  });
});
