import { describe, expect, it } from 'vitest';
import { openAppClient, sentBy, untilExited, untilSent, watchAudit } from '../../support/app-client.js';
import { FakeClock } from '../../support/fake-clock.js';
import { openServer } from '../../support/session.js';

const open = () => openAppClient(openServer());
type Client = Awaited<ReturnType<typeof open>>;

const spawn = (wire: Client, processHandle: string, text: string, changes: object = {}) =>
  wire.request('process/spawn', {
    command: ['/bin/sh', '-c', text],
    processHandle,
    cwd: '/tmp',
    ...changes,
  });

/** What `process/exited` says of a process that ended well without a word. */
const quiet = {
  exitCode: 0,
  outputDrainTimedOut: false,
  stdout: '',
  stdoutCapReached: false,
  stderr: '',
  stderrCapReached: false,
};

describe('a spawned process', () => {
  it('is answered when it runs, and its end is a notification with what it wrote', async () => {
    const wire = await open();
    expect((await spawn(wire, 'p', 'printf out; printf err >&2; exit 3')).result).toEqual({});
    expect(await untilExited(wire, 'p')).toEqual({
      ...quiet,
      processHandle: 'p',
      exitCode: 3,
      stdout: 'out',
      stderr: 'err',
    });
    expect(wire.received.slice(-2).map(({ method }) => method)).toEqual([undefined, 'process/exited']);
    expect(wire.received.at(-1)).toHaveProperty('emittedAtMs');
  });

  it.each([
    [5, 'abcd', 'abcd', false],
    [5, 'abcde', 'abcde', true],
    [5, 'abcdef', 'abcde', true],
    [0, '', '', false],
    [0, 'a', '', true],
  ])(
    'with a cap of %i bytes reports of "%s" just "%s"',
    async (outputBytesCap, text, stdout, stdoutCapReached) => {
      const wire = await open();
      await spawn(wire, 'p', `printf '${text}'`, { outputBytesCap });
      expect(await untilExited(wire, 'p')).toEqual({
        ...quiet,
        processHandle: 'p',
        stdout,
        stdoutCapReached,
      });
    },
  );

  it('with a cap of null reports everything, and without one a mebibyte', async () => {
    const wire = await open();
    const script = 'head -c 1048577 /dev/zero | tr "\\0" x';
    await spawn(wire, 'all', script, { outputBytesCap: null });
    await spawn(wire, 'some', script);
    const all = await untilExited(wire, 'all');
    const some = await untilExited(wire, 'some');
    expect(all?.stdout).toHaveLength(1_048_577);
    expect(all?.stdoutCapReached).toBe(false);
    expect(some?.stdout).toHaveLength(1_048_576);
    expect(some?.stdoutCapReached).toBe(true);
  });

  it('streams, and says at the end that a cap was reached', async () => {
    const wire = await open();
    await spawn(wire, 'p', 'printf abcdefgh', { streamStdoutStderr: true, outputBytesCap: 5 });
    expect(await untilExited(wire, 'p')).toEqual({ ...quiet, processHandle: 'p', stdoutCapReached: true });
    expect(sentBy(wire, 'p')).toBe('abcde');
  });

  it('has ten seconds, another time, or all there is', async () => {
    const clock = new FakeClock();
    const audit = watchAudit();
    const wire = await openAppClient(openServer({ clock, auditLog: audit.auditLog }));
    await spawn(wire, 'usual', 'exec sleep 60');
    await spawn(wire, 'short', 'exec sleep 60', { timeoutMs: 400 });
    await spawn(wire, 'long', 'exec sleep 60', { timeoutMs: null });
    clock.advance(400);
    expect(await untilExited(wire, 'short')).toMatchObject({ exitCode: 124 });
    clock.advance(9_600);
    expect(await untilExited(wire, 'usual')).toMatchObject({ exitCode: 124 });
    clock.advance(1_000_000);
    expect((await wire.request('process/kill', { processHandle: 'long' })).result).toEqual({});
    expect(await untilExited(wire, 'long')).toMatchObject({ exitCode: 137 });
  });

  it('takes input until that is ended', async () => {
    const wire = await open();
    await spawn(wire, 'p', 'cat; echo end; sleep 60', { streamStdin: true, streamStdoutStderr: true });
    const write = (params: object) => wire.request('process/writeStdin', { processHandle: 'p', ...params });
    expect((await write({ deltaBase64: 'aGVsbG8K' })).result).toEqual({});
    await untilSent(wire, 'p', 'hello');
    expect((await write({ closeStdin: true })).result).toEqual({});
    await untilSent(wire, 'p', 'end');
    expect((await write({ deltaBase64: 'eA==' })).error).toMatchObject({
      code: -32600,
      message: 'stdin is already closed',
    });
  });

  it('on a terminal has a size that can be changed', async () => {
    const wire = await open();
    const script = 'trap "stty size" WINCH; stty size; echo ready; while :; do sleep 0.05; done';
    await spawn(wire, 'p', script, { tty: true, size: { rows: 20, cols: 70 } });
    expect(await untilSent(wire, 'p', 'ready')).toContain('20 70\r\n');
    const size = { rows: 21, cols: 71 };
    expect((await wire.request('process/resizePty', { processHandle: 'p', size })).result).toEqual({});
    await untilSent(wire, 'p', '21 71');
  });
});

describe('checks of process/spawn', () => {
  const size = { rows: 0, cols: 1 };
  // Each case is wrong in the next ones' ways too, so that the order shows.
  it.each([
    [{ cwd: undefined, command: [] }, -32600, 'Invalid request: missing field `cwd`'],
    [{ processHandle: undefined, command: [] }, -32600, 'Invalid request: missing field `processHandle`'],
    [{ cwd: 'relative' }, -32600, 'Invalid request: AbsolutePathBuf deserialized without a base path'],
    [{ command: [], processHandle: '' }, -32600, 'command must not be empty'],
    [{ processHandle: '', size }, -32600, 'processHandle must not be empty'],
    [{ size, timeoutMs: -1 }, -32602, 'process/spawn size requires tty: true'],
    [{ size, tty: true, timeoutMs: -1 }, -32602, 'process/spawn timeoutMs must be non-negative, got -1'],
    [{ size, tty: true, cwd: '/no/such' }, -32602, 'process size rows and cols must be greater than 0'],
    [{ cwd: '/no/such' }, -32603, 'failed to spawn process: No such file or directory (os error 2)'],
    [{ command: ['no-such-xyz'] }, -32603, 'failed to spawn process: No such file or directory (os error 2)'],
  ])('%j is %i %s', async (changes, code, message) => {
    const wire = await open();
    const params = { command: ['true'], processHandle: 'e', cwd: '/tmp', ...changes };
    expect((await wire.request('process/spawn', params)).error).toMatchObject({ code, message });
  });

  it('a handle is taken while its process runs', async () => {
    const wire = await open();
    await spawn(wire, 'dup', 'exec sleep 60');
    expect((await spawn(wire, 'dup', 'exit 0')).error).toMatchObject({
      code: -32600,
      message: 'duplicate active process handle: "dup"',
    });
  });
});

describe('requests about a process', () => {
  it.each([
    ['process/writeStdin', {}, -32602, 'process/writeStdin requires deltaBase64 or closeStdin'],
    ['process/writeStdin', { deltaBase64: '*' }, -32602, 'invalid deltaBase64: Invalid symbol 42, offset 0.'],
    ['process/writeStdin', { closeStdin: true }, -32600, 'no active process for process handle "nope"'],
    [
      'process/resizePty',
      { size: { rows: 1, cols: 0 } },
      -32602,
      'process size rows and cols must be greater than 0',
    ],
    [
      'process/resizePty',
      { size: { rows: 1, cols: 1 } },
      -32600,
      'no active process for process handle "nope"',
    ],
    ['process/kill', {}, -32600, 'no active process for process handle "nope"'],
  ])('that is none: %s %j is %i %s', async (method, params, code, message) => {
    const wire = await open();
    expect((await wire.request(method, { processHandle: 'nope', ...params })).error).toMatchObject({
      code,
      message,
    });
  });

  it('without input or terminal are refused', async () => {
    const wire = await open();
    await spawn(wire, 'p', 'exec sleep 60');
    const write = await wire.request('process/writeStdin', { processHandle: 'p', deltaBase64: 'eA==' });
    expect(write.error).toMatchObject({
      code: -32600,
      message: 'stdin streaming is not enabled for this process',
    });
    const size = { rows: 5, cols: 5 };
    const resize = await wire.request('process/resizePty', { processHandle: 'p', size });
    expect(resize.error).toMatchObject({
      code: -32600,
      message: 'failed to resize PTY: process is not attached to a PTY',
    });
  });

  it.each(['process/spawn', 'process/writeStdin', 'process/resizePty', 'process/kill'])(
    '%s is for clients that asked for what is experimental',
    async (method) => {
      const wire = await openAppClient(openServer(), null);
      const params = { command: ['true'], processHandle: 'p', cwd: '/tmp', size: { rows: 1, cols: 1 } };
      expect((await wire.request(method, params)).error).toMatchObject({
        code: -32600,
        message: `${method} requires experimentalApi capability`,
      });
    },
  );
});
