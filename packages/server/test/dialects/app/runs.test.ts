import { isRunning, openWire, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { EXIT_DRAIN_MS } from '../../../src/output/exit-after-output.js';
import {
  begin,
  openAppClient,
  runScript,
  sentBy,
  untilExited,
  untilSent,
  watchAudit,
} from '../../support/app-client.js';
import { FakeClock } from '../../support/fake-clock.js';
import { openServer, openSession, shellParams, untilClosed } from '../../support/session.js';

const script = (text: string) => ['/bin/sh', '-c', text];

describe('the id of a command', () => {
  it('is taken while it runs and free with its answer', async () => {
    const wire = await openAppClient(openServer());
    const flags = { processId: 'dup', streamStdin: true, disableTimeout: true };
    const first = begin(wire, 'command/exec', { command: ['cat'], ...flags });
    expect((await runScript(wire, 'exit 0', { processId: 'dup' })).error).toMatchObject({
      code: -32600,
      message: 'duplicate active command/exec process id: "dup"',
    });
    await wire.request('command/exec/write', { processId: 'dup', closeStdin: true });
    await first();
    expect((await runScript(wire, 'echo again', { processId: 'dup' })).result).toMatchObject({
      stdout: 'again\n',
    });
  });

  it('is all that was kept of it: its output is not held for anybody', async () => {
    const clock = new FakeClock();
    const wire = await openAppClient(openServer({ clock }));
    await runScript(wire, 'echo x', { processId: 'p' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('is free at once when nothing could be started', async () => {
    const wire = await openAppClient(openServer());
    const answers = [['/no/such'], ['true']].map((command) =>
      wire.request('command/exec', { command, processId: 'p' }),
    );
    const [failed, started] = await Promise.all(answers);
    expect(failed?.error?.code).toBe(-32603);
    expect(started?.result).toMatchObject({ exitCode: 0 });
  });

  it('is another one in the other family', async () => {
    const wire = await openAppClient(openServer());
    const command = begin(wire, 'command/exec', {
      command: ['cat'],
      processId: 'x',
      streamStdin: true,
      disableTimeout: true,
    });
    const spawned = await wire.request('process/spawn', {
      command: ['cat'],
      processHandle: 'x',
      cwd: '/tmp',
    });
    expect(spawned.result).toEqual({});
    await wire.request('process/kill', { processHandle: 'x' });
    await wire.request('command/exec/write', { processId: 'x', closeStdin: true });
    expect((await command()).result).toMatchObject({ exitCode: 0 });
  });
});

describe('output that somebody else holds open', () => {
  const holder = '(trap "" HUP; echo $!; exec sleep 60) & echo parent $!; exit 7';

  async function open() {
    const clock = new FakeClock();
    const audit = watchAudit();
    return { clock, audit, wire: await openAppClient(openServer({ clock, auditLog: audit.auditLog })) };
  }

  it('is waited for, then the command is answered and the rest of its group killed', async () => {
    const { clock, audit, wire } = await open();
    const answer = begin(wire, 'command/exec', {
      command: script(holder),
      processId: 'late',
      streamStdoutStderr: true,
    });
    const pid = Number(/parent (\d+)\n/.exec(await untilSent(wire, 'late', 'parent'))?.[1]);
    await audit.until('process-ended');
    clock.advance(EXIT_DRAIN_MS - 1);
    expect(isRunning(pid)).toBe(true);
    clock.advance(1);
    expect((await answer()).result).toEqual({ exitCode: 7, stdout: '', stderr: '' });
    await waitForProcessGone(pid);
  });

  it('makes requests about the id wait, one behind the other', async () => {
    const { clock, audit, wire } = await open();
    const first = begin(wire, 'command/exec', {
      command: script(holder),
      processId: 'late',
      streamStdin: true,
    });
    await audit.until('process-ended');
    const write = begin(wire, 'command/exec/write', { processId: 'late', closeStdin: true });
    const terminate = begin(wire, 'command/exec/terminate', { processId: 'late' });
    const next = begin(wire, 'command/exec', { command: ['true'], processId: 'late' });
    // Behind them, so that they have arrived when it is answered.
    await runScript(wire, 'exit 0');
    clock.advance(EXIT_DRAIN_MS);
    expect((await first()).result).toMatchObject({ exitCode: 7 });
    expect((await write()).error).toMatchObject({
      code: -32600,
      message: 'command/exec "late" is no longer running',
    });
    expect((await terminate()).error).toMatchObject({
      code: -32600,
      message: 'no active command/exec for process id "late"',
    });
    expect((await next()).result).toMatchObject({ exitCode: 0 });
    const answers = wire.received.filter(({ method }) => method === undefined).slice(-4);
    expect(answers[0]).toBe(await first());
  });

  it('shows in the report of a spawned process', async () => {
    const { clock, audit, wire } = await open();
    await wire.request('process/spawn', { command: script(holder), processHandle: 'h', cwd: '/tmp' });
    await audit.until('process-ended');
    clock.advance(EXIT_DRAIN_MS);
    expect(await untilExited(wire, 'h')).toMatchObject({ exitCode: 7, outputDrainTimedOut: true });
  });
});

it('a child in the background is killed with the end of its command, although it holds nothing', async () => {
  const wire = await openAppClient(openServer());
  const { result } = await runScript(wire, 'sleep 60 >/dev/null 2>&1 & echo $!');
  await waitForProcessGone(Number(result?.stdout));
});

describe('connections', () => {
  it('have their ids and their output to themselves', async () => {
    const server = openServer();
    const [a, b] = [await openAppClient(server), await openAppClient(server)];
    const flags = { processId: 'same', streamStdin: true, streamStdoutStderr: true, disableTimeout: true };
    const answers = [a, b].map((wire) => begin(wire, 'command/exec', { command: ['cat'], ...flags }));
    const say = (wire: typeof a, text: string) =>
      wire.request('command/exec/write', {
        processId: 'same',
        deltaBase64: Buffer.from(text).toString('base64'),
        closeStdin: true,
      });
    await Promise.all([say(a, 'to a'), say(b, 'to b')]);
    for (const answer of answers) expect((await answer()).result).toMatchObject({ exitCode: 0 });
    expect([sentBy(a, 'same'), sentBy(b, 'same')]).toEqual(['to a', 'to b']);
  });

  it("cannot control each other's processes", async () => {
    const server = openServer();
    const [a, b] = [await openAppClient(server), await openAppClient(server)];
    const flags = { streamStdoutStderr: true, disableTimeout: true };
    begin(a, 'command/exec', { command: script('echo up; sleep 60'), processId: 'p', ...flags });
    await untilSent(a, 'p', 'up');
    expect((await b.request('command/exec/terminate', { processId: 'p' })).error?.message).toBe(
      'no active command/exec for process id "p"',
    );
  });

  it('that close take everything along that they started, and nothing of others', async () => {
    const audit = watchAudit();
    const server = openServer({ auditLog: audit.auditLog });
    const [a, b] = [await openAppClient(server), await openAppClient(server)];
    const stay = { disableTimeout: true };
    begin(a, 'command/exec', { command: script('echo $$; sleep 60'), ...stay });
    begin(a, 'command/exec', { command: script('echo up; sleep 60'), processId: 't', tty: true, ...stay });
    await untilSent(a, 't', 'up');
    await a.request('process/spawn', {
      command: script('sleep 60 & wait'),
      processHandle: 'h',
      cwd: '/tmp',
      timeoutMs: null,
    });
    const mine = begin(b, 'command/exec', { command: ['cat'], processId: 't', streamStdin: true, ...stay });
    await a.close();
    const pids = audit.events.flatMap((event) => (event.event === 'process-started' ? [event.pid] : []));
    await Promise.all(pids.slice(0, 3).map((pid) => waitForProcessGone(pid)));
    await b.request('command/exec/write', { processId: 't', closeStdin: true });
    expect((await mine()).result).toMatchObject({ exitCode: 0 });
  });
});

describe('dialects on one port', () => {
  it('have equal ids at once and do not hear of each other', async () => {
    const server = openServer();
    const { url } = await server.listen('ws://127.0.0.1:0');
    const app = await openWire(url);
    await app.request('initialize', { clientInfo: { name: 'a', version: '1' } });
    const exec = await openWire(url);
    await exec.request('initialize', { clientName: 'e' });
    exec.send({ method: 'initialized' });
    const command = app.request('command/exec', {
      command: script('read x; echo app $x'),
      processId: 'same',
      streamStdin: true,
    });
    await exec.request('process/start', shellParams('same', 'read x; echo exec $x', { pipeStdin: true }));
    const line = Buffer.from('hello\n').toString('base64');
    await exec.request('process/write', { processId: 'same', writeId: '1', chunk: line });
    await app.request('command/exec/write', { processId: 'same', deltaBase64: line });
    expect((await command).result).toEqual({ exitCode: 0, stdout: 'app hello\n', stderr: '' });
    await exec.next(({ method }) => method === 'process/closed', 'the end');
    expect(app.received.every(({ method }) => method === undefined)).toBe(true);
    expect(exec.received.some(({ method }) => method?.startsWith('command/'))).toBe(false);
  });

  it('let a client of the same principal look at what the other runs', async () => {
    const server = openServer();
    const [app, exec] = [await openAppClient(server), await openSession(server)];
    begin(app, 'command/exec', {
      command: script('echo up; sleep 60'),
      processId: 'p',
      streamStdoutStderr: true,
      disableTimeout: true,
    });
    await untilSent(app, 'p', 'up');
    const { result } = await exec.request('process/list', { scope: 'all' });
    expect(result?.processes).toMatchObject([{ processId: 'command/exec "p"', tty: false }]);
    await exec.request('process/start', shellParams('p', 'exit 5'));
    expect((await untilClosed(exec, 'p')).exitCode).toBe(5);
  });
});
