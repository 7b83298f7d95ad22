import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixture, isRunning, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LaggedError } from '../src/errors.js';
import { partialResultOf } from '../src/process/errors.js';
import {
  collect,
  nextOutput,
  openCuttableMachine,
  openMachine,
  openMachineOn,
  openServer,
  sh,
} from './support/machine.js';

/** Complaints about products of this kind, each by its number and sentence, and what happens here instead. */

describe('truthful outcomes', () => {
  it('1: a stream ends with a made-up exit 0 while the process is alive', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('echo begun; exec sleep 300'));
    await handle.waitFor({ line: 'begun' });
    const result = handle.result();
    await machine.close();
    expect(await result).toMatchObject({ outcome: { kind: 'unknown' }, exitCode: undefined });
    expect((await collect(handle.events())).map(({ type }) => type)).toEqual(['output', 'failed']);
    expect(isRunning(handle.pid as number)).toBe(true);
  });

  it('2: a timeout raises in the client but the command keeps running', async () => {
    const machine = await openMachine();
    const result = await machine.run([fixture('setsid-grandchild')], { timeoutMs: 2000 });
    expect(result.timedOut).toBe(true);
    await waitForProcessGone(Number(result.stdout.trimmed()));
  });

  it('3: a hidden default bounds the whole life of the command', async () => {
    const machine = await openMachine();
    const sent: unknown[] = [];
    const call = machine.client.call.bind(machine.client);
    machine.client.call = (method, params, options) => {
      sent.push([method, params, options]);
      return call(method, params, options);
    };
    await machine.run(['true']);
    const text = JSON.stringify(sent);
    expect(text).toContain('process/start');
    expect(text).not.toContain('timeoutMs');
  });

  it('4: a kill is acknowledged while children live on', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn([fixture('ignore-sigterm-family')]);
    const child = Number(await handle.waitFor({ line: /\d/ }));
    const { pids } = await handle.terminate({ graceMs: 0 });
    expect(pids).toEqual(expect.arrayContaining([handle.pid, child]));
    await waitForProcessGone(child);
  });

  it('5: the exit of a signalled process is reported as a bare number', async () => {
    const machine = await openMachine();
    const { outcome } = await machine.run(sh('kill -s SEGV $$'));
    expect(outcome).toEqual({ kind: 'signaled', signal: 'SIGSEGV', exitCode: 139 });
  });
});

describe('hangs', () => {
  it('6: run hangs for ever when the machine vanishes', async () => {
    const { machine, cut } = await openCuttableMachine(openServer());
    const handle = await machine.spawn(sh('echo begun; exec sleep 300'));
    await handle.waitFor({ line: 'begun' });
    const pending = machine.client.call('process/closeStdin', { processId: handle.id });
    const events = collect(handle.events());
    cut();
    await expect(pending).rejects.toMatchObject({ code: 'connection_lost', retryable: true });
    expect(await events).toMatchObject([
      { type: 'output' },
      { type: 'failed', error: { code: 'connection_lost', lastSeq: 1 } },
    ]);
    expect((await handle.result()).outcome.kind).toBe('unknown');
    await expect(machine.run(['true'])).rejects.toMatchObject({ code: 'connection_lost' });
  });

  it('7: exec does not return because a grandchild holds the pipe', async () => {
    const machine = await openMachine();
    const result = await machine.run([fixture('hold-pipe')]);
    expect(result).toMatchObject({ exitCode: 0, outputOpen: true });
    const holder = Number(result.stdout.trimmed());
    expect(isRunning(holder)).toBe(true);
    onTestFinished(async () => {
      process.kill(holder, 'SIGKILL');
      await waitForProcessGone(holder);
    });
  });

  it('8: a command waits for stdin nobody will send', async () => {
    const machine = await openMachine();
    expect(await machine.run(['cat'])).toMatchObject({ exitCode: 0 });
  });

  it('9: no way to send EOF', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(['cat'], { stdin: 'pipe' });
    await handle.stdin.end('last words');
    expect(await handle.stdout.text()).toBe('last words');
    const term = await machine.pty(['cat']);
    await term.end();
    expect(await term.wait()).toMatchObject({ exitCode: 0 });
  });

  it('10: no stdin at all', async () => {
    const machine = await openMachine();
    const prompt = new Blob(['a long ', 'prompt']).stream();
    expect((await machine.run(['cat'], { input: prompt })).stdout.text()).toBe('a long prompt');
  });
});

describe('orphans and kill', () => {
  it('12: background jobs survive the call, the agent and the session', async () => {
    const server = openServer({ detachedSessionMs: 0 });
    const machine = await openMachineOn(server);
    const result = await machine.shell`sleep 300 </dev/null >/dev/null 2>&1 & echo $!`;
    const job = Number(result.stdout.trimmed());
    expect(isRunning(job)).toBe(true);
    await machine.close();
    await waitForProcessGone(job);
  });

  it('15: SIGKILL first, no cleanup for the child', async () => {
    const machine = await openMachine();
    const script = 'trap "echo cleaned up; exit 0" TERM; echo ready; while :; do sleep 0.05; done';
    const handle = await machine.spawn(sh(script));
    await handle.waitFor({ line: 'ready' });
    expect(await handle.terminate()).toMatchObject({ signal: 'SIGTERM', graceMs: 5000 });
    expect((await handle.result()).stdout.lines()).toEqual(['ready', 'cleaned up']);
  });

  it('16: a process leaks when the client goes', async () => {
    const server = openServer({ detachedSessionMs: 0 });
    const machine = await openMachineOn(server);
    const ends = await machine.spawn(['sleep', '300']);
    const stays = await machine.spawn(['sleep', '300'], { keepAliveMs: 3_600_000 });
    await machine.close();
    await waitForProcessGone(ends.pid as number);
    expect(isRunning(stays.pid as number)).toBe(true);
  });

  it('17: no way to kill an exec at all', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(['sleep', '300']);
    await handle.signal('SIGQUIT');
    expect(await handle.wait()).toMatchObject({ signal: 'SIGQUIT' });
  });
});

describe('output', () => {
  it('18: the last output is lost at exit', async () => {
    const machine = await openMachine();
    for (let run = 0; run < 10; run++) {
      const onPipe = await machine.run([fixture('print-20k')]);
      expect(onPipe.stdout.lines().at(-1)).toBe('000002047');
      const onTerminal = await (await machine.pty([fixture('print-20k')])).result();
      expect(onTerminal.stdout.lines()).toHaveLength(2048);
    }
  });

  it('19: output produced before the listener attaches is lost', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('echo early; read -r _'), { stdin: 'pipe' });
    await handle.waitFor({ line: 'early' });
    const lines = collect(handle.lines('stdout'));
    await handle.stdin.end();
    expect(await lines).toEqual(['early']);
  });

  it('20: reading after exit fails', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('echo still here'), { id: 'over' });
    await handle.result();
    expect(await handle.stdout.text()).toBe('still here\n');
    const again = await machine.attach('over');
    expect(await again.stdout.text()).toBe('still here\n');
    await expect(machine.attach('never was')).rejects.toMatchObject({ code: 'process_unknown' });
  });

  it('21: UTF-8 is split over chunks', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn([fixture('split-utf8')], { stdin: 'pipe' });
    for await (const event of handle.events()) if (event.type === 'output') break;
    const text = handle.stdout.text();
    await handle.stdin.write('\n');
    expect(await text).toBe('€\n');
  });

  it('22: unbounded buffers kill the host', async () => {
    const machine = await openMachine();
    const { stdout, all } = await machine.run([fixture('flood'), String(16 * 1024 * 1024)]);
    expect(stdout.totalBytes).toBe(16 * 1024 * 1024);
    for (const { head, tail } of [stdout, all]) expect(head.length + tail.length).toBe(2 * 1024 * 1024);
  });

  it('23: truncation hides the error, and drops are not counted', async () => {
    const machine = await openMachine();
    const script = 'echo first; yes filler | head -c 100000; echo "the error"';
    const { stdout, droppedBytes } = await machine.run(sh(script), {
      output: { headBytes: 6, tailBytes: 10, truncate: 'middle' },
    });
    expect(stdout.text()).toBe(`first\n\n[… ${droppedBytes} bytes dropped …]\nthe error\n`);
    expect(droppedBytes).toBe(100_016 - 16);
  });

  it('24: stdout and stderr are merged, or their order is lost', async () => {
    const machine = await openMachine();
    const script = 'for i in 1 2 3; do echo "out $i"; sleep 0.1; echo "err $i" >&2; sleep 0.1; done';
    const { stdout, stderr, all } = await machine.run(sh(script));
    expect(stdout.lines()).toEqual(['out 1', 'out 2', 'out 3']);
    expect(stderr.lines()).toEqual(['err 1', 'err 2', 'err 3']);
    expect(all.lines()).toEqual(['out 1', 'err 1', 'out 2', 'err 2', 'out 3', 'err 3']);
  });

  it('25: polling the whole log again and again is quadratic', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('echo one; read -r _; echo two'), { stdin: 'pipe', id: 'log' });
    await handle.waitFor({ line: 'one' });
    const { cursor } = handle;
    await handle.stdin.end();
    await handle.result();
    const later = await collect(handle.events({ from: cursor }));
    expect(later.map(({ type }) => type).sort()).toEqual(['closed', 'exited', 'output']);
  });
});

describe('reconnect', () => {
  it('26: a dead subscriber blocks all others', async () => {
    const machine = await openMachine({ retainedOutputBytes: 64 * 1024 });
    const handle = await machine.spawn([fixture('flood'), String(8 * 1024 * 1024)]);
    const dead = handle.events({ from: 0, slowReader: 'lag' });
    await dead.next();
    expect((await handle.result()).stdout.totalBytes).toBe(8 * 1024 * 1024);
    const error = await collect(dead).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LaggedError);
    expect((await collect(handle.events({ from: (error as LaggedError).toSeq }))).at(-1)).toMatchObject({
      type: 'closed',
    });
  });

  it('29: a replay corrupts the terminal', async () => {
    const machine = await openMachine();
    // Asks the terminal where the cursor is; whoever painted this would type the answer.
    const script = `printf '\\033[6nshown'; exec sleep 300`;
    await using term = await machine.pty(sh(script));
    await term.waitFor({ text: 'shown' });
    const { ansi, lines } = await term.snapshot();
    expect(ansi).not.toContain('\u001b[6n');
    expect(lines[0]).toBe('shown');
  });

  it('30: an abort ends the wait but not the process', async () => {
    const machine = await openMachine();
    const controller = new AbortController();
    const output = nextOutput(machine);
    const running = machine.run(sh('echo $$; exec sleep 300'), { signal: controller.signal });
    const pid = Number(await output);
    controller.abort();
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    expect(partialResultOf(controller.signal.reason)?.stdout.trimmed()).toBe(String(pid));
    await waitForProcessGone(pid);
  });

  it('31: the death of a client ends the session', async () => {
    const server = openServer();
    const first = await openMachineOn(server);
    const job = await first.spawn(sh('echo begun; exec sleep 300'), { id: 'job', keepAliveMs: 60_000 });
    await job.waitFor({ line: 'begun' });
    await first.close();
    const second = await openMachineOn(server);
    await using again = await second.attach('job');
    expect(await again.waitFor({ line: /./ })).toBe('begun');
  });
});

describe('environment and platform', () => {
  it("33: the server's secrets are in the child's environment", async () => {
    const env = { ...process.env, EXEC_SERVER_TOKEN: 'ours', MY_API_KEY: 'theirs', HARMLESS: 'yes' };
    const machine = await openMachine({ env });
    const core = (await machine.run(['env'])).stdout.text();
    const all = (await machine.run(['env'], { inheritEnv: 'all' })).stdout.text();
    expect(core).not.toMatch(/ours|theirs|HARMLESS/);
    expect(all).not.toMatch(/ours|theirs/);
    expect(all).toContain('HARMLESS=yes');
  });

  it('34: the limit on arguments is a riddle', async () => {
    const machine = await openMachine();
    const prompt = 'x'.repeat(4 * 1024 * 1024);
    await expect(machine.run(['echo', prompt], { env: { A: 'é' } })).rejects.toMatchObject({
      code: 'argument_too_long',
      message:
        'Argument list too long (os error 7): argv and env have 4194315 bytes; give large data as `input`',
    });
    expect((await machine.run(['wc', '-c'], { input: prompt })).stdout.trimmed()).toBe(String(prompt.length));
  });

  it('35: the terminal has size 0×0, or gets it late', async () => {
    const machine = await openMachine();
    const term = await machine.pty(['stty', 'size'], { cols: 132, rows: 43 });
    expect((await term.result()).stdout.trimmed()).toBe('43 132');
  });

  it('38: no pid for long jobs', async () => {
    const machine = await openMachine();
    await using handle = await machine.spawn(['sleep', '300']);
    expect(isRunning(handle.pid as number)).toBe(true);
    expect((await collect(machine.processes.list())).map(({ pid }) => pid)).toEqual([handle.pid]);
  });

  it('39: agents poll in a loop for lack of a wait', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'wait-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const script = join(directory, 'serve.mjs');
    const source = `#!/usr/bin/env node
      import { createServer } from 'node:net';
      const server = createServer((socket) => socket.destroy());
      server.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port));`;
    await writeFile(script, source);
    await chmod(script, 0o755);
    const machine = await openMachine();
    await using server = await machine.spawn([process.execPath, script]);
    const line = await server.waitFor({ line: /^port \d+$/ });
    await server.waitFor({ port: Number(line.slice(5)), timeoutMs: 20_000 });
    await server.waitFor({ quietMs: 20 });
  });

  it('42: one slow request blocks the rest', async () => {
    const machine = await openMachine();
    await using slow = await machine.spawn(['sleep', '300']);
    const waiting = machine.client.call('process/wait', { processId: slow.id });
    expect((await machine.run(['true'])).exitCode).toBe(0);
    await slow.terminate();
    expect(await waiting).toMatchObject({ running: false });
  });
});
