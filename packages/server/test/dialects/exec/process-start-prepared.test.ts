import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openServer, openSession, startParams, untilClosed } from '../../support/session.js';

const prepared = (processId: string, program: string, argv: readonly string[], changes: object = {}) => ({
  processId,
  program,
  argv,
  cwd: 'file:///tmp',
  env: {},
  tty: false,
  ...changes,
});

const open = (options: object = {}) => openSession(openServer(options));

describe('process/startPrepared', () => {
  it('runs program, argv and environment exactly as given', async () => {
    const wire = await open();
    const script = 'echo "$0 $1"; /usr/bin/env; pwd';
    const { result } = await wire.request(
      'process/startPrepared',
      prepared('p', '/bin/sh', ['any name', '-c', script, 'zero', 'one'], { env: { ONLY: 'this' } }),
    );
    expect(result).toEqual({ processId: 'p', sandboxType: 'none', pid: expect.any(Number) });
    const story = await untilClosed(wire, 'p');
    const lines = story.stdout.toString().trimEnd().split('\n');
    expect(lines[0]).toBe('zero one');
    expect(lines.at(-1)).toBe('/tmp');
    expect(lines).toContain('ONLY=this');
    expect(story.stdout.toString()).not.toMatch(/^(PATH|SHELL|HOME)=/m);
  });

  it('adds nothing on a terminal either, and takes its size', async () => {
    const wire = await open();
    await wire.request(
      'process/startPrepared',
      prepared('p', '/usr/bin/env', ['env'], { env: { A: '1' }, tty: true, size: { rows: 3, cols: 9 } }),
    );
    expect((await untilClosed(wire, 'p')).pty.toString()).toBe('A=1\r\n');
  });

  it("still keeps the server's credentials from the child", async () => {
    const wire = await open();
    const env = { CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN: 'secret', MY_TOKEN: 'mine' };
    await wire.request('process/startPrepared', prepared('p', '/usr/bin/env', ['env'], { env }));
    expect((await untilClosed(wire, 'p')).stdout.toString()).toBe('MY_TOKEN=mine\n');
  });

  it('takes the options of every start', async () => {
    const spillDirectory = mkdtempSync(join(tmpdir(), 'prepared-'));
    onTestFinished(() => rmSync(spillDirectory, { recursive: true }));
    const wire = await open({ spillDirectory });
    const options = { timeoutMs: 50, graceMs: 10, tags: { a: 'b' }, outputBytesCap: 10, spill: true };
    await wire.request('process/startPrepared', prepared('p', '/bin/sleep', ['sleep', '60'], options));
    await untilClosed(wire, 'p');
    expect((await wire.request('process/wait', { processId: 'p' })).result).toMatchObject({
      timedOut: true,
      spill: { complete: true },
    });
    const { result } = await wire.request('process/list', { tags: { a: 'b' } });
    expect(result?.processes).toMatchObject([{ processId: 'p', argv: ['sleep', '60'] }]);
  });

  it('writes to what it started, though the write comes right behind', async () => {
    const wire = await open();
    const started = wire.request(
      'process/startPrepared',
      prepared('p', '/bin/cat', ['cat'], { pipeStdin: true }),
    );
    const written = wire.request('process/write', {
      processId: 'p',
      chunk: btoa('in'),
      writeId: '1',
      closeStdin: true,
    });
    expect([(await started).result, (await written).result]).toMatchObject([{}, { status: 'accepted' }]);
    expect((await untilClosed(wire, 'p')).stdout.toString()).toBe('in');
  });

  it.each([
    ['a name', 'sh', ['sh'], {}, -32602, 'program must be an absolute path, not `sh`'],
    ['a relative path', './sh', ['sh'], {}, -32602, 'program must be an absolute path, not `./sh`'],
    ['no argv', '/bin/sh', [], {}, -32602, 'argv must not be empty'],
    ['a missing program', '/nonexistent', ['x'], {}, -32603, 'No such file or directory (os error 2)'],
    ['a NUL', '/bin/sh\0', ['x'], {}, -32603, 'nul byte found in provided data'],
    [
      'a size without a terminal',
      '/bin/sh',
      ['x'],
      { size: { rows: 1, cols: 1 } },
      -32602,
      'size requires tty',
    ],
    ['grace without a limit', '/bin/sh', ['x'], { graceMs: 1 }, -32602, 'graceMs requires timeoutMs'],
  ])('refuses %s', async (_name, program, argv, changes, code, message) => {
    const wire = await open();
    const { error } = await wire.request('process/startPrepared', prepared('p', program, argv, changes));
    expect(error).toMatchObject({ code, message });
  });
});

describe('a way that is not allowed', () => {
  const direct = () => startParams('p', ['/bin/true']);
  const ready = () => prepared('p', '/bin/true', ['true']);
  const capability = async (wire: Awaited<ReturnType<typeof open>>) => {
    const { result } = await wire.request('environment/info');
    return (result?.capabilities as Record<string, boolean> | undefined)?.processStartPrepared;
  };

  it('is neither by default', async () => {
    const wire = await open();
    expect(await capability(wire)).toBe(true);
  });

  it('direct', async () => {
    const wire = await open({ allowDirectExec: false });
    expect((await wire.request('process/start', direct())).error).toMatchObject({
      code: -32600,
      message: 'direct execution is not allowed on this server',
    });
    expect((await wire.request('process/startPrepared', ready())).result).toBeDefined();
    expect(await capability(wire)).toBe(true);
  });

  it('prepared', async () => {
    const wire = await open({ allowPreparedExec: false });
    expect((await wire.request('process/startPrepared', ready())).error).toMatchObject({
      code: -32600,
      message: 'prepared execution is not allowed on this server',
    });
    expect((await wire.request('process/start', direct())).result).toBeDefined();
    expect(await capability(wire)).toBe(false);
  });
});
