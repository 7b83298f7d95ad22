import { createMemoryTransportPair } from '@exec-server/rpc';
import { InProcessWire } from '@exec-server/testing';
import { describe, expect, it, vi } from 'vitest';
import { MAX_COLLECTED_BYTES } from '../../../src/dialects/app/run-output.js';
import { isDeltaOf, openAppClient, runScript, sentBy, watchAudit } from '../../support/app-client.js';
import { FakeClock } from '../../support/fake-clock.js';
import { openServer } from '../../support/session.js';

/** What may be queued to a client before output waits. */
const HIGH_WATER_BYTES = 1024 * 1024;
/** One chunk of 64 KiB in base64 with its envelope. */
const LARGEST_DELTA = 90_000;

const open = (capabilities?: object | null) => openAppClient(openServer(), capabilities);

describe('a buffered command', () => {
  it('is answered when it has ended, with its code and both streams', async () => {
    const wire = await open();
    const { result } = await runScript(wire, 'printf out; printf err >&2; exit 3');
    expect(result).toEqual({ exitCode: 3, stdout: 'out', stderr: 'err' });
  });

  it('has an empty stdin, and leaves out no byte order mark', async () => {
    const wire = await open();
    expect((await runScript(wire, "cat; printf '\\357\\273\\277x'")).result).toMatchObject({
      stdout: '\ufeffx',
    });
  });

  it('may write what is no UTF-8', async () => {
    const wire = await open();
    expect((await runScript(wire, "printf 'a\\377\\376b'")).result).toMatchObject({ stdout: 'aÿþb' });
  });

  it('that a signal ended has 128 and its number', async () => {
    const wire = await open();
    expect((await runScript(wire, 'kill -TERM $$')).result).toMatchObject({ exitCode: 143 });
  });

  it.each([
    [5, 'abcd', 'abcd'],
    [5, 'abcde', 'abcde'],
    [5, 'abcdef', 'abcde'],
    [0, 'a', ''],
  ])('with a cap of %i bytes keeps of %s just %s, of each stream', async (outputBytesCap, written, kept) => {
    const wire = await open();
    const { result } = await runScript(wire, `printf ${written}; printf ${written} >&2; exit 4`, {
      outputBytesCap,
    });
    expect(result).toEqual({ exitCode: 4, stdout: kept, stderr: kept });
  });

  it('keeps a mebibyte unless told otherwise, and everything when told', async () => {
    const wire = await open();
    const script = 'head -c 1048577 /dev/zero | tr "\\0" x';
    expect((await runScript(wire, script)).result?.stdout).toHaveLength(1_048_576);
    const all = await runScript(wire, script, { disableOutputCap: true });
    expect(all.result?.stdout).toHaveLength(1_048_577);
  });

  it('that wrote more than a response can carry is an error, and not half an answer', async () => {
    const wire = await open();
    const write = (bytes: number) => `head -c ${bytes} /dev/zero | tr "\\0" x`;
    const fits = await runScript(wire, write(MAX_COLLECTED_BYTES), { disableOutputCap: true });
    expect(fits.result?.stdout).toHaveLength(MAX_COLLECTED_BYTES);
    expect(
      (await runScript(wire, write(MAX_COLLECTED_BYTES + 1), { disableOutputCap: true })).error,
    ).toMatchObject({
      code: -32603,
      message: 'command/exec output exceeds the 25165824 bytes per stream that a response can carry',
    });
  });
});

describe('checks', () => {
  const full = { sandboxPolicy: { type: 'dangerFullAccess' } };
  const size = { rows: 0, cols: 10 };
  // Each case is wrong in the next ones' ways too, so that the order shows.
  const order: readonly [object, number, string][] = [
    [
      { command: 'ls', ...full, permissionProfile: ':x' },
      -32600,
      'Invalid request: invalid type: string "ls", expected a sequence',
    ],
    [{ command: [], ...full, permissionProfile: ':x' }, -32600, 'command must not be empty'],
    [
      { ...full, permissionProfile: ':x', size },
      -32600,
      '`permissionProfile` cannot be combined with `sandboxPolicy`',
    ],
    [{ size, outputBytesCap: 1, disableOutputCap: true }, -32602, 'command/exec size requires tty: true'],
    [
      { outputBytesCap: 1, disableOutputCap: true, timeoutMs: -5, disableTimeout: true },
      -32602,
      'command/exec cannot set both outputBytesCap and disableOutputCap',
    ],
    [
      { timeoutMs: -5, disableTimeout: true, permissionProfile: ':no-such' },
      -32602,
      'command/exec cannot set both timeoutMs and disableTimeout',
    ],
    [
      { timeoutMs: -5, permissionProfile: ':no-such' },
      -32602,
      'command/exec timeoutMs must be non-negative, got -5',
    ],
    [
      { permissionProfile: ':no-such', tty: true, size },
      -32600,
      'invalid permission profile: default_permissions refers to unknown built-in profile `:no-such`',
    ],
    [
      { permissionProfile: 'mine', tty: true, size },
      -32600,
      'invalid permission profile: default_permissions requires a `[permissions]` table',
    ],
    [{ tty: true, size }, -32602, 'command/exec size rows and cols must be greater than 0'],
    [{ tty: true }, -32600, 'command/exec tty or streaming requires a client-supplied processId'],
    [{ streamStdin: true }, -32600, 'command/exec tty or streaming requires a client-supplied processId'],
    [
      { streamStdoutStderr: true },
      -32600,
      'command/exec tty or streaming requires a client-supplied processId',
    ],
  ];

  it.each(order)('%j is %i %s', async (changes, code, message) => {
    const wire = await open();
    expect((await wire.request('command/exec', { command: ['true'], ...changes })).error).toMatchObject({
      code,
      message,
    });
  });

  it('a profile is for clients that asked for what is experimental', async () => {
    const wire = await open(null);
    const { error } = await wire.request('command/exec', { command: [], permissionProfile: ':read-only' });
    expect(error).toMatchObject({
      code: -32600,
      message: 'command/exec.permissionProfile requires experimentalApi capability',
    });
  });

  it('null counts as absent where a member may be', async () => {
    const wire = await open();
    const nothing = Object.fromEntries(
      'processId outputBytesCap timeoutMs cwd env size sandboxPolicy permissionProfile'
        .split(' ')
        .map((name) => [name, null]),
    );
    expect((await runScript(wire, 'exit 0', nothing)).result).toMatchObject({ exitCode: 0 });
  });
});

describe('time', () => {
  it('is up after ten seconds unless told otherwise, which is 124 with what was written until then', async () => {
    const clock = new FakeClock();
    const { auditLog, until } = watchAudit();
    const wire = await openAppClient(openServer({ clock, auditLog }));
    const answer = runScript(wire, 'echo up; exec sleep 60', { processId: 'p', streamStdoutStderr: true });
    await until('process-started');
    clock.advance(9_999);
    expect(
      (await wire.request('command/exec/write', { processId: 'p', closeStdin: true })).error,
    ).toMatchObject({
      code: -32600,
      message: 'stdin streaming is not enabled for this command/exec',
    });
    clock.advance(1);
    expect((await answer).result).toEqual({ exitCode: 124, stdout: '', stderr: '' });
  });

  it('of zero is up at once', async () => {
    const wire = await open();
    expect((await runScript(wire, 'sleep 60', { timeoutMs: 0 })).result).toMatchObject({ exitCode: 124 });
  });

  it('is not counted when that is asked for', async () => {
    const clock = new FakeClock();
    const { auditLog, until } = watchAudit();
    const wire = await openAppClient(openServer({ clock, auditLog }));
    const answer = wire.request('command/exec', {
      command: ['cat'],
      processId: 'p',
      streamStdin: true,
      disableTimeout: true,
    });
    await until('process-started');
    clock.advance(1_000_000);
    await wire.request('command/exec/write', { processId: 'p', closeStdin: true });
    expect((await answer).result).toMatchObject({ exitCode: 0 });
  });
});

describe('a streamed command', () => {
  it('sends its output before its answer, which has none', async () => {
    const wire = await open();
    const { result } = await runScript(wire, 'printf out; printf err >&2', {
      processId: 's',
      streamStdoutStderr: true,
    });
    expect(result).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(wire.received.at(-1)?.result).toBe(result);
    expect(sentBy(wire, 's')).toBe('out');
    expect(sentBy(wire, 's', 'stderr')).toBe('err');
  });

  it('tells the time of a notification beside its params', async () => {
    const wire = await open();
    await runScript(wire, 'printf x', { processId: '', streamStdoutStderr: true });
    expect(wire.received.at(-2)).toEqual({
      method: 'command/exec/outputDelta',
      params: { processId: '', stream: 'stdout', deltaBase64: 'eA==', capReached: false },
      emittedAtMs: expect.any(Number),
    });
  });

  it.each([
    [5, 'abcd', [['abcd', false]]],
    [5, 'abcde', [['abcde', true]]],
    [5, 'abcdef', [['abcde', true]]],
    [0, 'a', [['', true]]],
    [0, '', []],
  ])('with a cap of %i bytes sends of "%s" %j and reads on', async (outputBytesCap, written, sent) => {
    const wire = await open();
    const { result } = await runScript(wire, `printf '${written}'; head -c 200000 /dev/zero >&2; exit 6`, {
      processId: 'c',
      streamStdoutStderr: true,
      outputBytesCap,
    });
    expect(result).toMatchObject({ exitCode: 6 });
    const deltas = wire.received.filter(({ params }) => params?.stream === 'stdout');
    const text = (base64: unknown) => Buffer.from(base64 as string, 'base64').toString();
    expect(deltas.map(({ params }) => [text(params?.deltaBase64), params?.capReached])).toEqual(sent);
  });

  it('on a terminal is all stdout, in the size that was asked for', async () => {
    const wire = await open();
    const size = { rows: 31, cols: 101 };
    await runScript(wire, 'stty size; echo err >&2', { processId: 't', tty: true, size });
    expect(sentBy(wire, 't')).toBe('31 101\r\nerr\r\n');
    expect(sentBy(wire, 't', 'stderr')).toBe('');
  });

  it('waits for a client that does not read, in a bounded queue, and loses nothing', async () => {
    const [client, serverSide] = createMemoryTransportPair();
    openServer().accept(serverSide);
    const wire = new InProcessWire(client);
    await wire.request('initialize', { clientInfo: { name: 'slow', version: '1' } });
    const bytes = 8 * 1024 * 1024;
    const answer = runScript(wire, `head -c ${bytes} /dev/zero`, {
      processId: 's',
      streamStdoutStderr: true,
      disableOutputCap: true,
    });
    await wire.next(isDeltaOf('s'), 'the first output');
    wire.pause();
    await vi.waitFor(() => expect(serverSide.bufferedBytes).toBeGreaterThanOrEqual(HIGH_WATER_BYTES));
    expect(serverSide.bufferedBytes).toBeLessThan(HIGH_WATER_BYTES + 2 * LARGEST_DELTA);
    wire.resume();
    expect((await answer).result).toMatchObject({ exitCode: 0 });
    expect(sentBy(wire, 's')).toHaveLength(bytes);
  });

  it('goes to nobody who opted out of it', async () => {
    const wire = await open({ optOutNotificationMethods: ['command/exec/outputDelta', 'no/such'] });
    const { result } = await runScript(wire, 'echo x', { processId: 's', streamStdoutStderr: true });
    expect(result).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(wire.received.filter(({ method }) => method !== undefined)).toEqual([]);
  });
});
