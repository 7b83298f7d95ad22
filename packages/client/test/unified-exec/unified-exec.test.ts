import type { ExecServerOptions } from '@exec-server/server';
import { isRunning, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { MAX_SESSIONS } from '../../src/unified-exec/limits.js';
import { toStructuredReply } from '../../src/unified-exec/reply.js';
import { createUnifiedExec, type UnifiedExecSession } from '../../src/unified-exec/unified-exec.js';
import { openCuttableMachine, openMachine, openServer } from '../support/machine.js';
import {
  endedReply,
  normalize,
  openUnifiedExec,
  runningReply,
  type UnifiedExecStage,
} from '../support/unified-exec.js';

const CTRL_C = '\u0003';
const END_OF_FILE = '\u0004';

/** Windows that are waited for here; the clock has them pass. */
const EARLY_EXIT_MS = 150;
const REACTION_MS = 100;
const POLL_MS = 5000;

/** Starts a command that goes on, and waits until it has written `shown`. Gives the id of its session. */
async function startLong(
  { exec, clock, seen }: UnifiedExecStage,
  args: { readonly cmd: string; readonly tty?: boolean },
  shown?: string,
): Promise<{ readonly sessionId: number; readonly text: string }> {
  const call = exec.execCommand({ ...args, yieldTimeMs: 1 });
  await clock.elapse(EARLY_EXIT_MS);
  if (shown !== undefined) await seen((event) => event.type === 'output' && event.delta.includes(shown));
  await clock.elapse(250);
  const { sessionId, text } = await call;
  return { sessionId: sessionId as number, text };
}

describe('execCommand', () => {
  it('comes back with the end of a command', async () => {
    const { exec } = await openUnifiedExec();
    const reply = await exec.execCommand({ cmd: 'echo hi; exit 4' });
    expect(reply).toMatchObject({
      exitCode: 4,
      sessionId: undefined,
      outcome: { kind: 'exited', exitCode: 4 },
      originalTokenCount: 1,
      output: 'hi\n',
    });
    expect(toStructuredReply(reply)).toEqual({
      chunk_id: reply.chunkId,
      wall_time_seconds: 0,
      exit_code: 4,
      original_token_count: 1,
      output: 'hi\n',
    });
    expect(exec.sessions).toEqual([]);
  });

  it('comes back with a session when the window has passed', async () => {
    const stage = await openUnifiedExec();
    const call = stage.exec.execCommand({ cmd: 'echo begun; exec sleep 300' }, { callId: 'call-1' });
    await stage.clock.elapse(EARLY_EXIT_MS);
    await stage.seen((event) => event.type === 'output');
    await stage.clock.elapse(10_000);
    const reply = await call;
    expect(normalize(reply.text)).toBe(runningReply(2, 'begun\n'));
    // The time until it counts as a session is not in the wall time.
    expect(reply.text).toContain('Wall time: 10.0000 seconds\n');
    expect(stage.exec.sessions).toEqual([
      { sessionId: reply.sessionId, callId: 'call-1', tty: false, hasExited: false },
    ]);
    expect(toStructuredReply(reply)).toMatchObject({ session_id: reply.sessionId });
  });

  it('does not end with the first output, but with the end of the process', async () => {
    const { exec, clock, seen } = await openUnifiedExec();
    const call = exec.execCommand({ cmd: 'echo one; read x < /dev/tty; echo two', tty: true });
    await seen((event) => event.type === 'output');
    await clock.elapse(EARLY_EXIT_MS);
    await clock.started(10_000);
    const [{ sessionId }] = exec.sessions as readonly [UnifiedExecSession];
    const typed = exec.writeStdin({ sessionId, chars: 'go\n' });
    // Calls take turns: the first one has to come back before anything is typed.
    clock.advance(10_000);
    expect((await call).output).toBe('one\r\n');
    expect((await typed).output).toBe('go\r\ntwo\r\n');
  });

  it('does not wait for what was left running in the background', async () => {
    const { exec, clock, seen } = await openUnifiedExec();
    const call = exec.execCommand({ cmd: 'sleep 300 & echo hi' });
    await seen((event) => event.type === 'output');
    await clock.elapse(50);
    const { text, output } = await call;
    expect(output).toBe('hi\n');
    expect(text).toContain('Process exited with code 0\n');
  });

  it('runs where it is told, from where it is told', async () => {
    const { exec } = await openUnifiedExec({ cwd: '/usr' });
    const where = async (workdir?: string) => (await exec.execCommand({ cmd: 'pwd', workdir })).output;
    expect(await where()).toBe('/usr\n');
    expect(await where('')).toBe('/usr\n');
    expect(await where('lib')).toBe('/usr/lib\n');
    expect(await where('..')).toBe('/\n');
    expect(await where('/tmp')).toBe('/tmp\n');
  });

  it('gives its own variables to commands, before those that make output plain', async () => {
    const { exec } = await openUnifiedExec({ env: { TERM: 'xterm', EXTRA: 'yes' } });
    const { output } = await exec.execCommand({ cmd: 'echo $TERM $EXTRA $NO_COLOR' });
    expect(output).toBe('xterm yes 1\n');
  });

  it('leaves the command running when the wait is given up', async () => {
    const { exec, clock } = await openUnifiedExec();
    const controller = new AbortController();
    const call = exec.execCommand({ cmd: 'exec sleep 300' }, { signal: controller.signal });
    await clock.started(EARLY_EXIT_MS);
    controller.abort(new Error('interrupted'));
    await expect(call).rejects.toThrow('interrupted');
    expect(exec.sessions).toHaveLength(1);
  });

  it('does not start a command whose call was given up before', async () => {
    const { exec, events } = await openUnifiedExec();
    await expect(
      exec.execCommand({ cmd: 'true' }, { signal: AbortSignal.abort(new Error('no')) }),
    ).rejects.toThrow('no');
    expect(events).toEqual([]);
  });

  it.each([
    [{ cmd: 'true', yieldTimeMs: -1 }, '`yieldTimeMs` must be a whole number of at least 0'],
    [{ cmd: 'true', maxOutputTokens: 0.5 }, '`maxOutputTokens` must be a whole number of at least 0'],
    [{ cmd: 'true', timeout: 5 }, 'execCommand has no option `timeout`'],
    [{ cmd: ['true'] as unknown as string }, '`cmd` is the text of a command'],
  ])('refuses %j', async (args, message) => {
    const { exec } = await openUnifiedExec();
    const call = exec.execCommand(args);
    await expect(call).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining(message) });
  });
});

describe('writeStdin', () => {
  it('types into a terminal and returns what is new', async () => {
    const stage = await openUnifiedExec();
    const { exec, clock, seen } = stage;
    const { sessionId } = await startLong(stage, { cmd: 'echo ready; cat', tty: true }, 'ready');
    const call = exec.writeStdin({ sessionId, chars: 'hi\n' });
    await clock.started(REACTION_MS);
    await seen((event) => event.type === 'output' && event.delta.endsWith('hi\r\n'));
    clock.advance(REACTION_MS);
    await clock.elapse(250);
    expect((await call).output).toMatch(/^hi\r\n(?:hi\r\n)?$/);
    const last = await exec.writeStdin({ sessionId, chars: END_OF_FILE });
    expect(last.text).toContain('Process exited with code 0\n');
  });

  it('waits at least 5 seconds when nothing is typed, and comes back with the end', async () => {
    const stage = await openUnifiedExec();
    const { exec, clock, machine } = stage;
    const { sessionId, text } = await startLong(stage, { cmd: 'echo $$; exec sleep 300' }, '\n');
    const poll = exec.writeStdin({ sessionId, yieldTimeMs: 100 });
    await clock.elapse(POLL_MS);
    expect(normalize((await poll).text)).toBe(runningReply(0, ''));
    const second = exec.writeStdin({ sessionId });
    await clock.started(POLL_MS);
    const pid = /Output:\n(\d+)/.exec(text)?.[1] as string;
    await machine.run(['kill', '-TERM', pid], { check: true });
    expect(normalize((await second).text)).toBe(endedReply(143, 0, ''));
  });

  it('waits no longer than the options allow when nothing is typed', async () => {
    const stage = await openUnifiedExec({ maxPollYieldMs: 7000 });
    const { sessionId } = await startLong(stage, { cmd: 'exec sleep 300' });
    const poll = stage.exec.writeStdin({ sessionId, yieldTimeMs: 100_000 });
    await stage.clock.elapse(7000);
    expect((await poll).sessionId).toBe(sessionId);
  });

  it('interrupts a command without a terminal', async () => {
    const stage = await openUnifiedExec();
    const cmd = 'trap "echo got; exit 7" INT; echo ready; while :; do sleep 0.02; done';
    const { sessionId } = await startLong(stage, { cmd }, 'ready');
    const reply = await stage.exec.writeStdin({ sessionId, chars: CTRL_C });
    expect(normalize(reply.text)).toBe(endedReply(7, 1, 'got\n'));
  });

  it('interrupts a command on a terminal', async () => {
    const stage = await openUnifiedExec();
    const { sessionId } = await startLong(stage, { cmd: 'echo ready; exec sleep 300', tty: true }, 'ready');
    const reply = await stage.exec.writeStdin({ sessionId, chars: CTRL_C });
    expect(normalize(reply.text)).toBe(endedReply(130, 1, '^C'));
  });

  it.each(['text\n', CTRL_C + CTRL_C])('cannot type %j without a terminal', async (chars) => {
    const stage = await openUnifiedExec();
    const { sessionId } = await startLong(stage, { cmd: 'exec sleep 300' });
    expect(await stage.exec.callTool('write_stdin', { session_id: sessionId, chars })).toBe(
      'write_stdin failed: stdin is closed for this session; rerun exec_command with tty=true to keep stdin open',
    );
  });

  it.each([true, false])('reports the end of a command that has ended meanwhile (tty: %s)', async (tty) => {
    const stage = await openUnifiedExec();
    const { exec, machine, seen } = stage;
    const { sessionId, text } = await startLong(stage, { cmd: 'echo $$; exec sleep 300', tty }, '\n');
    const pid = /Output:\n(\d+)/.exec(text)?.[1] as string;
    await machine.run(['kill', '-KILL', pid], { check: true });
    await seen((event) => event.type === 'end');
    expect(exec.sessions).toMatchObject([{ sessionId, hasExited: true }]);
    const reply = await exec.writeStdin({ sessionId, chars: tty ? 'abc\n' : CTRL_C });
    expect(normalize(reply.text)).toBe(endedReply(137, 0, ''));
    expect(await exec.callTool('write_stdin', { session_id: sessionId })).toBe(
      `write_stdin failed: Unknown process id ${sessionId}`,
    );
  });

  it('knows nothing of a session that never was', async () => {
    const { exec } = await openUnifiedExec();
    await expect(exec.writeStdin({ sessionId: -1 })).rejects.toMatchObject({
      code: 'process_unknown',
      message: 'write_stdin failed: Unknown process id -1',
    });
  });

  it('takes turns on one session: who comes after the end is told', async () => {
    const stage = await openUnifiedExec();
    const { sessionId } = await startLong(stage, { cmd: 'exec sleep 300' });
    const calls = [CTRL_C, ''].map((chars) => stage.exec.writeStdin({ sessionId, chars }));
    const [first, second] = await Promise.allSettled(calls);
    expect(first).toMatchObject({ status: 'fulfilled', value: { exitCode: 130 } });
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'process_unknown' } });
  });

  it('does not keep one session waiting for another', async () => {
    const stage = await openUnifiedExec();
    const { exec, clock } = stage;
    const { sessionId: slow } = await startLong(stage, { cmd: 'exec sleep 300' });
    const { sessionId: quick } = await startLong(stage, { cmd: 'exec sleep 300' });
    const waiting = exec.writeStdin({ sessionId: slow });
    await clock.started(POLL_MS);
    expect((await exec.writeStdin({ sessionId: quick, chars: CTRL_C })).exitCode).toBe(130);
    clock.advance(POLL_MS);
    expect((await waiting).sessionId).toBe(slow);
  });

  it('keeps what was written when the wait is given up', async () => {
    const stage = await openUnifiedExec();
    const { exec, clock } = stage;
    const { sessionId } = await startLong(stage, { cmd: 'trap "" INT; echo on; exec sleep 300' }, 'on');
    const controller = new AbortController();
    const call = exec.writeStdin({ sessionId }, { signal: controller.signal });
    await clock.started(POLL_MS);
    controller.abort(new Error('interrupted'));
    await expect(call).rejects.toThrow('interrupted');
    expect(exec.sessions).toMatchObject([{ sessionId, hasExited: false }]);
  });
});

describe('sessions', () => {
  it('are no more than 64; one more ends the one that was used longest ago', async () => {
    const stage = await openUnifiedExec();
    const { exec, clock } = stage;
    const calls = Array.from({ length: MAX_SESSIONS }, (_, index) =>
      exec.execCommand({ cmd: 'echo $$; exec sleep 300' }, { callId: String(index) }),
    );
    await clock.started(EARLY_EXIT_MS, MAX_SESSIONS);
    clock.advance(EARLY_EXIT_MS);
    await Promise.all(
      calls.map((_, index) =>
        stage.seen(({ type, callId }) => type === 'output' && callId === String(index)),
      ),
    );
    await clock.started(10_000, MAX_SESSIONS);
    clock.advance(10_000);
    const replies = await Promise.all(calls);
    expect(exec.sessions).toHaveLength(MAX_SESSIONS);
    const [oldest, second] = exec.sessions as readonly [UnifiedExecSession, UnifiedExecSession];
    const outputOf = (id: number) => replies.find(({ sessionId }) => sessionId === id)?.output;

    // One that ends at once needs no room.
    await exec.execCommand({ cmd: 'true' });
    expect(exec.sessions).toHaveLength(MAX_SESSIONS);

    await startLong(stage, { cmd: 'exec sleep 300' });
    expect(exec.sessions).toHaveLength(MAX_SESSIONS);
    await waitForProcessGone(Number(outputOf(oldest.sessionId)));
    expect(await exec.callTool('write_stdin', { session_id: oldest.sessionId, chars: CTRL_C })).toBe(
      `write_stdin failed: Unknown process id ${oldest.sessionId}`,
    );
    const { text } = await exec.writeStdin({ sessionId: second.sessionId, chars: CTRL_C });
    expect(normalize(text)).toBe(endedReply(130, 0, ''));
  });

  it('can be ended', async () => {
    const stage = await openUnifiedExec();
    const { sessionId } = await startLong(stage, { cmd: 'exec sleep 300' });
    await stage.exec.terminate(sessionId);
    expect((await stage.exec.writeStdin({ sessionId })).exitCode).toBe(137);
    await expect(stage.exec.terminate(sessionId)).rejects.toMatchObject({ code: 'process_unknown' });
  });

  it('end with unified exec, and no other begins', async () => {
    const stage = await openUnifiedExec();
    const { text } = await startLong(stage, { cmd: 'echo $$; exec sleep 300' }, '\n');
    const pid = Number(/Output:\n(\d+)/.exec(text)?.[1]);
    expect(isRunning(pid)).toBe(true);
    await stage.exec.close();
    expect(isRunning(pid)).toBe(false);
    await expect(stage.exec.execCommand({ cmd: 'true' })).rejects.toMatchObject({ code: 'usage' });
    await stage.exec.close();
  });

  it('whose connection is lost have an unknown outcome', async () => {
    const server = openServer();
    const { machine, cut } = await openCuttableMachine(server);
    const exec = createUnifiedExec(machine, { shell: '/bin/sh', allowLoginShell: false });
    const begun = new Promise<void>((resolve) => {
      exec.onEvent(({ type }) => type === 'output' && resolve());
    });
    const call = exec.execCommand({ cmd: 'echo begun; exec sleep 300' });
    await begun;
    cut();
    const reply = await call;
    expect(reply).toMatchObject({ exitCode: undefined, sessionId: undefined, output: 'begun\n' });
    expect(reply.text).toContain('\nProcess has an unknown outcome: exec-server transport disconnected');
    await expect(exec.callTool('exec_command', { cmd: 'true' })).rejects.toMatchObject({
      code: 'connection_lost',
    });
    await exec.close();
  });
});

describe('events', () => {
  it('tell the whole story of a command', async () => {
    const stage = await openUnifiedExec({ cwd: '/tmp' });
    const { exec, clock, events, seen } = stage;
    const call = exec.execCommand(
      { cmd: 'echo one; read x; echo two', tty: true, yieldTimeMs: 250 },
      { callId: 'call-1' },
    );
    await seen(({ type }) => type === 'output');
    await clock.elapse(EARLY_EXIT_MS);
    await clock.elapse(250);
    const sessionId = (await call).sessionId as number;
    const poll = exec.writeStdin({ sessionId });
    await clock.elapse(POLL_MS);
    await poll;
    await exec.writeStdin({ sessionId, chars: 'go\n' });
    const subject = { callId: 'call-1', sessionId };
    const others = events.filter(({ type }) => type !== 'output');
    expect(others.filter(({ type }) => type !== 'end')).toEqual([
      {
        type: 'begin',
        ...subject,
        processId: expect.any(String),
        argv: ['/bin/sh', '-c', 'echo one; read x; echo two'],
        cwd: 'file:///tmp',
        tty: true,
      },
      { type: 'terminalInteraction', ...subject, stdin: '' },
      { type: 'terminalInteraction', ...subject, stdin: 'go\n' },
    ]);
    expect(await seen(({ type }) => type === 'end')).toMatchObject({
      ...subject,
      status: 'completed',
      exitCode: 0,
      aggregatedOutput: 'one\r\ngo\r\ntwo\r\n',
      durationMs: EARLY_EXIT_MS + 250 + POLL_MS,
    });
    const deltas = events.map((event) => (event.type === 'output' ? event.delta : '')).join('');
    expect(deltas).toBe('one\r\ngo\r\ntwo\r\n');
    expect(events[0]?.type).toBe('begin');
  });

  it('do not tell of a call without input that finds the end', async () => {
    const stage = await openUnifiedExec();
    const { exec, events } = stage;
    const { sessionId } = await startLong(stage, { cmd: 'exec sleep 300' });
    await exec.terminate(sessionId);
    await exec.writeStdin({ sessionId });
    expect(events.filter(({ type }) => type === 'terminalInteraction')).toEqual([]);
    await expect(stage.seen(({ type }) => type === 'end')).resolves.toMatchObject({ status: 'failed' });
  });

  it('tell of a command that could not be started', async () => {
    const { exec, events } = await openUnifiedExec({ cwd: '/' });
    const call = exec.execCommand({ cmd: 'pwd', workdir: 'no-such-dir' }, { callId: 'call-1' });
    await expect(call).rejects.toMatchObject({ name: 'UnifiedExecError', code: 'spawn_failed' });
    const subject = { callId: 'call-1', sessionId: undefined };
    expect(events).toEqual([
      expect.objectContaining({
        type: 'begin',
        ...subject,
        processId: undefined,
        cwd: 'file:///no-such-dir',
      }),
      expect.objectContaining({
        type: 'end',
        ...subject,
        status: 'failed',
        exitCode: -1,
        aggregatedOutput: 'Failed to create unified exec process: No such file or directory (os error 2)',
      }),
    ]);
  });

  it('tell of the end 100 ms after it where others hold the output open', async () => {
    const { exec, clock, seen, events } = await openUnifiedExec();
    const call = exec.execCommand({ cmd: 'sleep 300 & echo hi' });
    await seen(({ type }) => type === 'output');
    await clock.elapse(50);
    await call;
    expect(events.some(({ type }) => type === 'end')).toBe(false);
    clock.advance(49);
    expect(events.some(({ type }) => type === 'end')).toBe(false);
    clock.advance(1);
    expect(await seen(({ type }) => type === 'end')).toMatchObject({ exitCode: 0, aggregatedOutput: 'hi\n' });
  });
});

describe('holdYield', () => {
  it('stops the window while a person is asked', async () => {
    const { exec, clock } = await openUnifiedExec();
    const call = exec.execCommand({ cmd: 'exec sleep 300' });
    await clock.elapse(EARLY_EXIT_MS);
    await clock.started(10_000);
    clock.advance(4000);
    const release = exec.holdYield();
    clock.advance(60_000);
    release();
    await clock.elapse(6000);
    expect((await call).wallTimeMs).toBe(70_000);
  });
});

describe('clients', () => {
  it('a low-level client will do', async () => {
    const { client } = await openMachine();
    const exec = createUnifiedExec(client, { shell: 'sh', allowLoginShell: false });
    expect((await exec.execCommand({ cmd: 'echo hi' })).text).toContain('Process exited with code 0\n');
    await exec.close();
  });

  it('a server without extensions will do', async () => {
    const stage = await openUnifiedExec();
    const { capabilities } = await stage.machine.environment();
    const names = Object.keys(capabilities ?? {}).filter((name) => name.startsWith('process'));
    const disabledCapabilities = names as NonNullable<ExecServerOptions['disabledCapabilities']>;
    const plain = await openUnifiedExec({}, { disabledCapabilities });
    const { sessionId } = await startLong(plain, { cmd: 'exec sleep 300' });
    expect((await plain.exec.writeStdin({ sessionId, chars: CTRL_C })).exitCode).toBe(130);
    const { sessionId: killed } = await startLong(plain, { cmd: 'exec sleep 300', tty: true });
    await plain.exec.terminate(killed);
  });

  it('refuses options that it does not have', async () => {
    const machine = await openMachine();
    expect(() => createUnifiedExec(machine, { timeoutMs: 5 } as never)).toThrow('has no option `timeoutMs`');
    expect(() => createUnifiedExec(machine, { maxPollYieldMs: 4999 })).toThrow('at least 5000');
  });

  it('has no other tools', async () => {
    const { exec } = await openUnifiedExec();
    await expect(exec.callTool('rm', {})).rejects.toMatchObject({ code: 'usage' });
  });
});
