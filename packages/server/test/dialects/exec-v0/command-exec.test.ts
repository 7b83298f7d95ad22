import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixture, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../src/telemetry/audit.js';
import { FakeClock } from '../../support/fake-clock.js';
import { openServer, openSession, shellParams } from '../../support/session.js';
import { commandParams, openV0 } from '../../support/v0-client.js';

describe('a process', () => {
  it('tells what it prints and how it ends, and the end comes last', async () => {
    const client = await openV0(openServer());
    const id = await client.startShell('echo out; echo err >&2; exit 7');
    expect(await client.untilExited(id)).toEqual({ exitCode: 7, stdout: 'out\n', stderr: 'err\n' });
    const told = client.wire.received.filter(({ params }) => params?.sessionId === id);
    expect(told.at(-1)).toEqual({ method: 'command/exec/exited', params: { sessionId: id, exitCode: 7 } });
    expect(told[0]?.method).toBe('command/exec/outputDelta');
    expect(Object.keys(told[0]?.params ?? {})).toEqual(['sessionId', 'stream', 'chunk']);
  });

  it('is answered before anything is told about it', async () => {
    const client = await openV0(openServer());
    await client.untilExited(await client.startShell('echo out'));
    const [, answer, ...told] = client.wire.received;
    expect(answer?.result).toEqual({ sessionId: 'session-1' });
    expect(told.map(({ method }) => method)).toEqual(['command/exec/outputDelta', 'command/exec/exited']);
  });

  it('runs in its directory with its environment under its name', async () => {
    const client = await openV0(openServer());
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'with space %20 ')));
    const id = await client.startShell('echo "$0 $PWD $(env | grep -c ^HOME=) $V"', {
      cwd,
      env: { V: 'value', PATH: '/usr/bin:/bin' },
      arg0: 'other',
    });
    // The shell names itself by its own argv[0] where no name follows the script.
    expect((await client.untilExited(id)).stdout).toBe(`other ${cwd} 0 value\n`);
  });

  it('on pipes has nothing to read', async () => {
    const client = await openV0(openServer());
    expect(await client.untilExited(await client.start(['/bin/cat']))).toMatchObject({
      exitCode: 0,
      stdout: '',
    });
  });

  it('on a terminal prints to stdout alone', async () => {
    const client = await openV0(openServer());
    const id = await client.startShell('test -t 0 && test -t 2 && echo tty >&2', { tty: true });
    expect(await client.untilExited(id)).toEqual({ exitCode: 0, stdout: 'tty\r\n', stderr: '' });
  });

  it('that a signal ended has 128 and its number', async () => {
    const client = await openV0(openServer());
    expect((await client.untilExited(await client.startShell('kill -9 $$'))).exitCode).toBe(137);
  });

  it('loses nothing to a client that reads slowly', async () => {
    const server = openServer({ outboundHighWaterBytes: 4096, outboundLowWaterBytes: 1024 });
    const [client, other] = [await openV0(server), await openV0(server)];
    const id = await client.start(['/usr/bin/head', '-c', '1000000', '/dev/zero']);
    client.wire.pause();
    await other.untilExited(await other.start(['true']));
    client.wire.resume();
    const { stdout, exitCode } = await client.untilExited(id);
    expect([stdout.length, exitCode]).toEqual([1_000_000, 0]);
  });
});

describe('whoever a process leaves behind', () => {
  it('delays its end for two seconds at most, and is ended then', async () => {
    const clock = new FakeClock();
    let noteEnd = () => {};
    const ended = new Promise<void>((resolve) => (noteEnd = resolve));
    const record = ({ event }: AuditEvent) => event === 'process-ended' && noteEnd();
    const client = await openV0(openServer({ clock, auditLog: { record } }));
    const id = await client.startShell('sleep 300 & echo $!');
    const left = Number(await client.untilPrinted(id, '\n'));
    // The end of the process is on record long before it is told.
    await ended;
    clock.advance(1_999);
    await client.wire.request('environment/status');
    expect(client.wire.received.map(({ method }) => method)).not.toContain('command/exec/exited');
    clock.advance(1);
    expect((await client.untilExited(id)).exitCode).toBe(0);
    await waitForProcessGone(left);
  });

  it('does not delay it when he leaves its streams alone', async () => {
    const client = await openV0(openServer({ clock: new FakeClock() }));
    const id = await client.startShell('sleep 300 >/dev/null 2>&1 </dev/null & echo $!');
    const left = Number((await client.untilExited(id)).stdout);
    await waitForProcessGone(left);
  });
});

describe('ids', () => {
  it('count up per connection', async () => {
    const server = openServer();
    const [one, other] = [await openV0(server), await openV0(server)];
    expect([await one.start(['true']), await one.start(['true'])]).toEqual(['session-1', 'session-2']);
    expect(await other.start(['true'])).toBe('session-1');
  });

  it('are not used up by starts that fail', async () => {
    const client = await openV0(openServer());
    await client.wire.request('command/exec', commandParams(['/no/such/program']));
    expect(await client.start(['true'])).toBe('session-1');
  });

  it('do not meet those that clients choose for themselves', async () => {
    const client = await openV0(openServer());
    const { wire } = client;
    await wire.request('process/start', shellParams('session-1', 'echo new'));
    const id = await client.startShell('echo old');
    expect(id).toBe('session-1');
    expect(await client.untilExited(id)).toMatchObject({ stdout: 'old\n', exitCode: 0 });
    await wire.next(({ method }) => method === 'process/closed', 'the other to close');
    const { result } = await wire.request('process/read', { processId: id });
    expect(result).toMatchObject({ chunks: [{ chunk: Buffer.from('new\n').toString('base64') }] });
  });
});

describe('is refused', () => {
  const missing = 'No such file or directory (os error 2)';
  it.each([
    [commandParams([]), -32602, 'argv must not be empty'],
    [commandParams(['/no/such/program']), -32603, missing],
    [commandParams(['true'], { cwd: '/no/such/directory' }), -32603, missing],
    [
      commandParams(['true'], { cwd: 'relative' }),
      -32602,
      'AbsolutePathBuf deserialized without a base path',
    ],
    [{ argv: ['true'] }, -32602, 'missing field `cwd`'],
    [[['true'], '/tmp', {}], -32602, 'invalid length 3, expected struct ExecParams with 5 elements'],
    [undefined, -32602, 'invalid type: null, expected struct ExecParams'],
  ])('%o', async (params, code, message) => {
    const client = await openV0(openServer());
    expect((await client.wire.request('command/exec', params)).error).toMatchObject({ code, message });
  });

  it('where programs may not be named', async () => {
    const client = await openV0(openServer({ allowDirectExec: false }));
    expect((await client.wire.request('command/exec', commandParams(['true']))).error).toMatchObject({
      code: -32600,
      message: 'direct execution is not allowed on this server',
    });
  });

  it('beyond the limit of processes, and not below it', async () => {
    const client = await openV0(openServer({ maxProcessesPerConnection: 2 }));
    const first = await client.start(['sleep', '300']);
    await client.start(['sleep', '300']);
    expect((await client.wire.request('command/exec', commandParams(['true']))).error).toMatchObject({
      code: -32600,
      message: 'this session has its limit of 2 processes',
    });
    await client.terminate(first);
    await client.untilExited(first);
    expect(await client.start(['true'])).toBe('session-3');
  });
});

it('takes positional params', async () => {
  const client = await openV0(openServer());
  const { result } = await client.wire.request('command/exec', [
    ['true'],
    '/tmp',
    { PATH: '/bin:/usr/bin' },
    false,
  ]);
  expect(result).toEqual({ sessionId: 'session-1' });
});

it('is on record like every other start', async () => {
  const events: object[] = [];
  const client = await openV0(openServer({ auditLog: { record: (event) => events.push(event) } }));
  await client.untilExited(await client.start(['true'], { cwd: '/tmp' }));
  const started = { event: 'process-started', processId: 'session-1', argv: ['true'], cwd: 'file:///tmp' };
  expect(events).toMatchObject([started, { event: 'process-ended', processId: 'session-1', exitCode: 0 }]);
});

it('ends with the connection, with everything that was started, and at once', async () => {
  const client = await openV0(openServer({ clock: new FakeClock() }));
  const id = await client.start([fixture('setsid-grandchild')]);
  const grandchild = Number(await client.untilPrinted(id, '\n'));
  await client.wire.close();
  await waitForProcessGone(grandchild);
});

it('leaves the session beside it alone when the connection goes', async () => {
  const server = openServer();
  const client = await openV0(server);
  const wire = await openSession(server);
  await wire.request('process/start', shellParams('p', 'sleep 300'));
  await wire.request('command/exec', commandParams(['sleep', '300']));
  await wire.close();
  const resumed = await openSession(server, wire.sessionId);
  expect((await resumed.request('process/list', {})).result).toMatchObject({
    processes: [{ processId: 'p' }],
  });
  expect((await client.wire.request('environment/status')).result).toEqual({ status: 'ready' });
});
