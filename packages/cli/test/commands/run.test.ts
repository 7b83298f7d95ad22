import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { devNull } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCommandLine } from '../../src/run-command-line.js';
import { listen, makeDirectory, runCommand } from '../command-support.js';
import { FakeIo } from '../support.js';

const directory = realpathSync(makeDirectory());

function sh(script: string): string[] {
  return ['sh', '-c', script];
}

describe.each(['a server of its own', 'a server elsewhere'])('on %s', (where) => {
  async function run(args: readonly string[], io = new FakeIo()) {
    if (where !== 'a server of its own') io.env.EXEC_SERVER_URL = await listen();
    return runCommand(['run', ...args], io);
  }

  it('keeps stdout and stderr apart and exits as the command did', async () => {
    expect(await run(sh('echo out; echo err >&2; exit 7'))).toEqual({
      code: 7,
      stdout: 'out\n',
      stderr: 'err\n',
    });
  });

  it('passes stdin and its end', async () => {
    const io = new FakeIo();
    io.stdin.end('one\ntwo\n');
    expect(await run(['sort', '-r'], io)).toMatchObject({ code: 0, stdout: 'two\none\n' });
  });

  it('does not wait for a stdin that nobody reads', async () => {
    expect(await run(['true'])).toMatchObject({ code: 0 });
  });

  it('takes all that follows the program for its arguments', async () => {
    expect(await run(['echo', '-t', '--version', '--', '-h'])).toMatchObject({
      stdout: '-t --version -- -h\n',
    });
    expect(await run(['--', 'echo', '-n', 'x'])).toMatchObject({ stdout: 'x' });
  });

  it('exits with 128+n for a signal', async () => {
    expect(await run(sh('kill -9 $$'))).toMatchObject({ code: 137 });
  });

  it('is not held up by what the command leaves behind', async () => {
    expect(await run(sh('sleep 60 & exit 3'))).toMatchObject({ code: 3 });
  });
});

describe('exit codes of its own', () => {
  it.each<[string, string[], number]>([
    ['no such command', ['no-such-command'], 127],
    ['a command that cannot be run', ['/etc/passwd'], 126],
    ['the end of its time', ['--timeout', '50ms', 'sleep', '60'], 124],
    ['no command at all', [], 125],
    ['an option that there is not', ['--nope', 'true'], 125],
    ['a server that is not there', ['--connect', 'unix:///nope', 'true'], 125],
    ['detaching from a server that ends at once', ['--detach', 'true'], 125],
    ['stdin and no stdin', ['-i', '-n', 'true'], 125],
    ['a duration that is none', ['--timeout', 'soon', 'true'], 125],
    ['a variable without a name', ['-e', '=x', 'true'], 125],
  ])('%s', async (_, args, code) => {
    expect(await runCommand(['run', ...args])).toMatchObject({ code, stdout: '' });
  });
});

describe('the command', () => {
  it('runs where it is told to, and relative to here on this machine', async () => {
    expect(await runCommand(['run', '-w', directory, 'pwd'])).toMatchObject({ stdout: `${directory}\n` });
    expect(await runCommand(['run', '-w', '.', 'pwd'])).toMatchObject({ stdout: `${process.cwd()}\n` });
    const url = await listen();
    expect(await runCommand(['run', '--connect', url, '-w', '.', 'pwd'])).toMatchObject({ code: 125 });
  });

  it('gets variables that are set, and those from here that are named', async () => {
    const io = new FakeIo();
    Object.assign(io.env, { HERE: 'from here', EMPTY: '', OTHER: 'not named' });
    const flags = ['--inherit-env', 'none', '-e', 'A=b=c', '-e', 'HERE', '-e', 'EMPTY', '-e', 'ABSENT'];
    const { stdout } = await runCommand(['run', ...flags, '/usr/bin/env'], io);
    expect(stdout.split('\n').sort()).toEqual(['', 'A=b=c', 'EMPTY=', 'HERE=from here']);
  });

  it('finds an empty stdin if asked to', async () => {
    const io = new FakeIo();
    io.stdin.write('something');
    expect(await runCommand(['run', '--no-stdin', 'cat'], io)).toMatchObject({ code: 0, stdout: '' });
  });

  it('waits for whoever reads its output, and no byte is lost', async () => {
    const io = new FakeIo();
    const hash = createHash('sha256');
    let bytes = 0;
    let longestQueue = 0;
    io.stdout._write = (chunk, _encoding, done) => {
      hash.update(chunk);
      bytes += chunk.length;
      longestQueue = Math.max(longestQueue, io.stdout.writableLength);
      setImmediate(done);
    };
    io.env.EXEC_SERVER_URL = await listen();
    expect(await runCommandLine(['run', 'seq', '2000000'], io)).toBe(0);
    const expected = createHash('sha256');
    for (let line = 1; line <= 2_000_000; line++) expected.update(`${line}\n`);
    expect(hash.digest('hex')).toBe(expected.digest('hex'));
    expect(longestQueue).toBeLessThan(bytes / 10);
  });

  it('ends when nobody reads its output any more, as in a pipe', async () => {
    const io = new FakeIo();
    io.stdout.on('error', () => {});
    io.stdout._write = (_chunk, _encoding, done) => done(new Error('EPIPE'));
    expect(await runCommandLine(['run', 'yes'], io)).toBe(141);
  });
});

describe('signals', () => {
  /** Runs a script, and once it has said something sends the signals. */
  async function signalWhenReady(script: string, ...signals: readonly ('SIGINT' | 'SIGTERM' | 'SIGHUP')[]) {
    const io = new FakeIo();
    const running = runCommandLine(['run', ...sh(script)], io);
    io.stdout.once('said', () => {
      for (const signal of signals) io.signal(signal);
    });
    const code = await running;
    return { code, stdout: io.stdout.text, exits: io.exits, listeners: io.listeners };
  }
  const WAIT = 'while :; do sleep 0.05; done';

  it('an interrupt is the command’s to deal with', async () => {
    expect(await signalWhenReady(`trap 'echo caught; exit 9' INT; echo ready; ${WAIT}`, 'SIGINT')).toEqual({
      code: 9,
      stdout: 'ready\ncaught\n',
      exits: [],
      listeners: 0,
    });
  });

  it.each([
    ['SIGTERM', 'TERM'],
    ['SIGHUP', 'HUP'],
  ] as const)('%s is passed on', async (signal, name) => {
    const script = `trap 'echo caught; exit 4' ${name}; echo ready; ${WAIT}`;
    expect(await signalWhenReady(script, signal)).toMatchObject({ code: 4, stdout: 'ready\ncaught\n' });
  });

  it('a second one kills what does not want to end, a third leaves it', async () => {
    const stubborn = `trap '' INT TERM; echo ready; ${WAIT}`;
    expect(await signalWhenReady(stubborn, 'SIGINT', 'SIGINT')).toMatchObject({ code: 137, exits: [] });
    expect(await signalWhenReady(stubborn, 'SIGINT', 'SIGTERM', 'SIGINT')).toMatchObject({ exits: [130] });
  });
});

describe('--detach', () => {
  it('prints the id of a process that goes on, with tags to find it by', async () => {
    const url = await listen();
    const started = await runCommand([
      'run',
      '--connect',
      url,
      '-d',
      '--id',
      'job',
      '--tag',
      'a=b',
      'sleep',
      '60',
    ]);
    expect(started).toEqual({ code: 0, stdout: 'job\n', stderr: '' });
    const { stdout } = await runCommand(['ps', '--connect', url, '--tag', 'a=b', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([{ id: 'job', state: 'running', tags: { a: 'b' } }]);
  });
});

describe('a server that can do less', () => {
  it('gets no stdin that would never end, and that is explained', async () => {
    const url = await listen({ disabledCapabilities: ['processCloseStdin'] });
    const { code, stderr } = await runCommand(['run', '--connect', url, 'true']);
    expect({ code, stderr }).toEqual({
      code: 125,
      stderr: expect.stringContaining('The server cannot pass on the end of stdin; --no-stdin does without.'),
    });
    expect(await runCommand(['run', '--connect', url, '-n', 'echo', 'x'])).toMatchObject({ stdout: 'x\n' });
  });

  it('needs no word about a stdin that is the null device', async () => {
    const url = await listen({ disabledCapabilities: ['processCloseStdin'] });
    const nothing = await open(devNull);
    onTestFinished(() => nothing.close());
    const io = new FakeIo();
    Object.assign(io.stdin, { fd: nothing.fd });
    const counted = await runCommand(['run', '--connect', url, 'wc', '-c'], io);
    expect(counted).toEqual({ code: 0, stdout: '0\n', stderr: '' });
  });

  it('has terminals of its own size', async () => {
    const io = new FakeIo();
    const flags = ['--connect', await listen({ disabledCapabilities: ['processSize'] }), '-t'];
    Object.assign(io.stdout, { isTTY: true, columns: 100, rows: 50 });
    expect(await runCommand(['run', ...flags, 'stty', 'size'], io)).toMatchObject({
      code: 0,
      stdout: '24 80\r\n',
    });
  });
});
