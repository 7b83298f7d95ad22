import { join } from 'node:path';
import { fixture, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { begin, openAppClient, runScript, sentBy, untilSent } from '../../support/app-client.js';
import { openServer } from '../../support/session.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

const open = () => openAppClient(openServer());
type Client = Awaited<ReturnType<typeof open>>;

const base64 = (text: string) => Buffer.from(text).toString('base64');
const write = (wire: Client, processId: string, params: object) =>
  wire.request('command/exec/write', { processId, ...params });

/** Starts a command that takes input. */
function beginInput(wire: Client, processId: string, script: string, changes: object = {}) {
  const command = ['/bin/sh', '-c', script];
  const flags = { streamStdin: true, streamStdoutStderr: true, disableTimeout: true };
  return begin(wire, 'command/exec', { command, processId, ...flags, ...changes });
}

describe('writing', () => {
  it('may be sent right behind the command, and keeps its order', async () => {
    const wire = await open();
    const answer = beginInput(wire, 'p', 'cat');
    const writes = ['1', '2', '3'].map((text) => write(wire, 'p', { deltaBase64: base64(text) }));
    const last = write(wire, 'p', { deltaBase64: base64('4'), closeStdin: true });
    expect((await Promise.all([...writes, last])).map(({ result }) => result)).toEqual([{}, {}, {}, {}]);
    expect((await answer()).result).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(sentBy(wire, 'p')).toBe('1234');
  });

  it('behind the end of the input is refused, but nothing at all is not', async () => {
    const wire = await open();
    beginInput(wire, 'p', 'cat; echo end; sleep 60');
    await write(wire, 'p', { closeStdin: true });
    await untilSent(wire, 'p', 'end');
    expect((await write(wire, 'p', { closeStdin: true })).result).toEqual({});
    expect((await write(wire, 'p', { deltaBase64: '' })).result).toEqual({});
    expect((await write(wire, 'p', { deltaBase64: base64('x') })).error).toMatchObject({
      code: -32600,
      message: 'stdin is already closed',
    });
  });

  it('to a command without streamed input is refused, also to end it', async () => {
    const wire = await open();
    beginInput(wire, 'p', 'sleep 60', { streamStdin: false });
    const error = { code: -32600, message: 'stdin streaming is not enabled for this command/exec' };
    expect((await write(wire, 'p', { deltaBase64: base64('x') })).error).toMatchObject(error);
    expect((await write(wire, 'p', { closeStdin: true })).error).toMatchObject(error);
  });

  it.each([
    [{}, 'command/exec/write requires deltaBase64 or closeStdin'],
    [{ deltaBase64: null, closeStdin: false }, 'command/exec/write requires deltaBase64 or closeStdin'],
    [{ deltaBase64: '*' }, 'invalid deltaBase64: Invalid symbol 42, offset 0.'],
    [{ deltaBase64: 'eA' }, 'invalid deltaBase64: Invalid padding'],
  ])('%j is refused whoever it is for', async (params, message) => {
    const wire = await open();
    expect((await write(wire, 'nobody', params)).error).toMatchObject({ code: -32602, message });
  });

  it('on a terminal is typing, and the end comes on a line of its own', async () => {
    const wire = await open();
    const answer = beginInput(wire, 'p', 'while read x; do echo got:$x; done; echo eof', { tty: true });
    await write(wire, 'p', { deltaBase64: base64('a\n') });
    await untilSent(wire, 'p', 'got:a');
    await write(wire, 'p', { closeStdin: true });
    expect((await answer()).result).toMatchObject({ exitCode: 0 });
    expect(sentBy(wire, 'p')).toMatch(/got:a\r\n\r\ngot:\r\neof\r\n$/);
    expect((await write(wire, 'p', { closeStdin: true })).error?.code).toBe(-32600);
  });

  it('control-C to a terminal interrupts', async () => {
    const wire = await open();
    const answer = beginInput(wire, 'p', 'echo ready; exec sleep 60', { tty: true });
    await untilSent(wire, 'p', 'ready');
    await write(wire, 'p', { deltaBase64: 'Aw==' });
    expect((await answer()).result).toMatchObject({ exitCode: 130 });
  });

  it('to a child that never reads holds up nothing else', async () => {
    const wire = await open();
    const answer = begin(wire, 'command/exec', {
      command: [fixture('never-read-stdin')],
      processId: 'p',
      streamStdin: true,
      streamStdoutStderr: true,
      disableTimeout: true,
    });
    const chunk = 'A'.repeat(64 * 1024);
    const writes = Array.from({ length: 60 }, () => write(wire, 'p', { deltaBase64: chunk }));
    expect((await writes[0])?.result).toEqual({});
    expect((await wire.request('command/exec/terminate', { processId: 'p' })).result).toEqual({});
    expect((await answer()).result).toMatchObject({ exitCode: 137 });
    const refused = (await Promise.all(writes)).filter(({ error }) => error !== undefined);
    expect(refused.length).toBeGreaterThan(0);
    for (const { error } of refused) expect(error?.code).toBe(-32600);
  });
});

describe('resizing', () => {
  it('reaches the program', async () => {
    const wire = await open();
    const script = 'trap "stty size" WINCH; echo ready; while :; do sleep 0.05; done';
    beginInput(wire, 'p', script, { tty: true });
    await untilSent(wire, 'p', 'ready');
    const size = { rows: 45, cols: 132 };
    expect((await wire.request('command/exec/resize', { processId: 'p', size })).result).toEqual({});
    await untilSent(wire, 'p', '45 132');
  });

  it('needs a terminal', async () => {
    const wire = await open();
    beginInput(wire, 'p', 'sleep 60');
    const size = { rows: 1, cols: 1 };
    expect((await wire.request('command/exec/resize', { processId: 'p', size })).error).toMatchObject({
      code: -32600,
      message: 'failed to resize PTY: process is not attached to a PTY',
    });
  });

  it.each([
    [{ rows: 0, cols: 1 }, -32602, 'command/exec size rows and cols must be greater than 0'],
    [{ rows: 1, cols: 0 }, -32602, 'command/exec size rows and cols must be greater than 0'],
    [{ rows: 1, cols: 1 }, -32600, 'no active command/exec for process id "nobody"'],
    [{ rows: 65_535, cols: 65_535 }, -32600, 'no active command/exec for process id "nobody"'],
    [{ rows: 65_536, cols: 1 }, -32600, 'Invalid request: invalid value: integer `65536`, expected u16'],
  ])('to %j answers %i %s', async (size, code, message) => {
    const wire = await open();
    expect((await wire.request('command/exec/resize', { processId: 'nobody', size })).error).toMatchObject({
      code,
      message,
    });
  });
});

describe('terminating', () => {
  it('ends a command with its children at once, and its answer has what it wrote', async () => {
    const wire = await open();
    const file = join(await makeTempDirectory(), 'pid');
    const answer = begin(wire, 'command/exec', {
      command: ['/bin/sh', '-c', `trap "" TERM; echo up; sleep 60 & echo $! >${file}; wait`],
      processId: 'p',
      disableTimeout: true,
    });
    const child = await runScript(wire, `until [ -s ${file} ]; do sleep 0.05; done; cat ${file}`);
    expect((await wire.request('command/exec/terminate', { processId: 'p' })).result).toEqual({});
    expect((await answer()).result).toEqual({ exitCode: 137, stdout: 'up\n', stderr: '' });
    await waitForProcessGone(Number(child.result?.stdout));
  });

  it('a command on a terminal says which signal it was', async () => {
    const wire = await open();
    const answer = beginInput(wire, 'p', 'echo up; sleep 60', { tty: true });
    await untilSent(wire, 'p', 'up');
    await wire.request('command/exec/terminate', { processId: 'p' });
    expect((await answer()).result).toMatchObject({ exitCode: 137 });
  });

  it('somebody unknown or finished is an error with the id in quotes', async () => {
    const wire = await open();
    await runScript(wire, 'exit 0', { processId: 'done' });
    const error = async (processId: string) =>
      (await wire.request('command/exec/terminate', { processId })).error;
    expect(await error('done')).toMatchObject({
      code: -32600,
      message: 'no active command/exec for process id "done"',
    });
    expect(await error('we"ird\n')).toMatchObject({
      code: -32600,
      message: 'no active command/exec for process id "we\\"ird\\n"',
    });
  });
});
