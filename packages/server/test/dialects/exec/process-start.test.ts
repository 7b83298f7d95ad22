import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLOSED_PROXY } from '../../support/network-proxy.js';
import { openServer, openSession, shellParams, startParams, untilClosed } from '../../support/session.js';

const open = () => openSession(openServer());

describe('pipes', () => {
  it('runs a program and tells output, exit and end with contiguous numbers', async () => {
    const wire = await open();
    const { result } = await wire.request(
      'process/start',
      shellParams('p', 'echo out; echo err >&2; exit 3'),
    );
    expect(result).toEqual({ processId: 'p', sandboxType: 'none', pid: expect.any(Number) });
    const story = await untilClosed(wire, 'p');
    expect(story).toMatchObject({ exitCode: 3, seqs: [1, 2, 3, 4] });
    expect([story.stdout.toString(), story.stderr.toString()]).toEqual(['out\n', 'err\n']);
  });

  it('gives the child real pipes, which it can open by name', async () => {
    const wire = await open();
    const script = 'echo to-stderr > /dev/stderr; echo x | tee /dev/stdout; cat /dev/stdin';
    await wire.request('process/start', shellParams('p', script));
    const story = await untilClosed(wire, 'p');
    expect([story.stdout.toString(), story.stderr.toString()]).toEqual(['x\nx\n', 'to-stderr\n']);
    expect(story.exitCode).toBe(0);
  });

  it('reports death by signal n as 128 + n', async () => {
    const wire = await open();
    await wire.request('process/start', shellParams('p', 'kill -TERM $$'));
    expect((await untilClosed(wire, 'p')).exitCode).toBe(143);
  });

  it('finds the program on the default path when the child has none', async () => {
    const wire = await open();
    await wire.request('process/start', startParams('p', ['echo', 'hi'], { env: {} }));
    expect((await untilClosed(wire, 'p')).stdout.toString()).toBe('hi\n');
  });

  it('arg0 changes what the program sees, not which program runs', async () => {
    const wire = await open();
    await wire.request('process/start', shellParams('p', 'echo "$0"', { arg0: 'custom0' }));
    expect((await untilClosed(wire, 'p')).stdout.toString()).toBe('custom0\n');
  });

  it('adds the metadata to the environment', async () => {
    const wire = await open();
    const metadata = { threadId: '0199a213-81c0-7800-8aa1-bbab2a035a53', toolCallId: 'call_1' };
    await wire.request('process/start', startParams('p', ['/usr/bin/env'], { env: {}, metadata }));
    expect((await untilClosed(wire, 'p')).stdout.toString()).toBe(
      `CODEX_THREAD_ID=${metadata.threadId}\nCODEX_TOOL_CALL_ID=call_1\n`,
    );
  });
});

describe('ptys', () => {
  it('runs on a terminal of 24 rows and 80 columns that it controls', async () => {
    const wire = await open();
    await wire.request(
      'process/start',
      shellParams('p', 'stty size; tty >/dev/null && echo tty', { tty: true }),
    );
    expect((await untilClosed(wire, 'p')).pty.toString()).toBe('24 80\r\ntty\r\n');
  });

  it('reports death by signal n as 128 + n, as on pipes', async () => {
    const wire = await open();
    await wire.request('process/start', shellParams('p', 'kill -KILL $$', { tty: true }));
    expect((await untilClosed(wire, 'p')).exitCode).toBe(137);
  });

  it('arg0 does not replace the program', async () => {
    const wire = await open();
    await wire.request('process/start', shellParams('p', 'echo "$0"', { tty: true, arg0: 'custom0' }));
    expect((await untilClosed(wire, 'p')).pty.toString()).toBe('custom0\r\n');
  });

  it('has SHELL from the user database unless the request sets it', async () => {
    const wire = await open();
    await wire.request('process/start', shellParams('a', 'echo "$SHELL"', { tty: true }));
    expect((await untilClosed(wire, 'a')).pty.toString()).toMatch(/^\/.*sh\r\n$/);
    await wire.request(
      'process/start',
      shellParams('b', 'echo "$SHELL"', { tty: true, env: { SHELL: '/mine' } }),
    );
    expect((await untilClosed(wire, 'b')).pty.toString()).toBe('/mine\r\n');
  });
});

describe('refusals', () => {
  const directory = mkdtempSync(join(tmpdir(), 'exec-server-start-'));
  const plainFile = join(directory, 'noexec');
  writeFileSync(plainFile, 'not a program');
  const missing = 'No such file or directory (os error 2)';
  const path = { PATH: '/nowhere' };

  it.each([
    ['empty argv', -32602, 'argv must not be empty', [], {}],
    ['empty program, pipes', -32603, 'missing program for pipe spawn', [''], {}],
    ['empty program, pty', -32603, 'missing program for PTY spawn', [''], { tty: true }],
    ['missing program, pipes', -32603, missing, ['/nonexistent/x'], {}],
    ['missing program, pty', -32603, missing, ['/nonexistent/x'], { tty: true }],
    ['missing cwd, pipes', -32603, missing, ['/bin/pwd'], { cwd: 'file:///nonexistent' }],
    ['missing cwd, pty', -32603, missing, ['/bin/pwd'], { cwd: 'file:///nonexistent', tty: true }],
    ['not executable', -32603, 'Permission denied (os error 13)', [plainFile], {}],
    ['cwd is a file', -32603, 'Not a directory (os error 20)', ['/bin/pwd'], { cwd: `file://${plainFile}` }],
    ['not on the path, pipes', -32603, missing, ['sh'], { env: path }],
    [
      'not on the path, pty',
      -32603,
      'Unable to spawn sh because:\nNo viable candidates found in PATH "/nowhere"',
      ['sh'],
      { env: path, tty: true },
    ],
    [
      'no path, pty',
      -32603,
      'Unable to spawn sh because:\nUnable to resolve the PATH',
      ['sh'],
      { env: {}, tty: true },
    ],
    ['NUL in an argument', -32603, 'nul byte found in provided data', ['/bin/echo', 'a\0b'], {}],
    [
      'NUL in the environment',
      -32603,
      'nul byte found in provided data',
      ['/bin/echo'],
      { env: { A: 'a\0b' } },
    ],
    [
      '300 KB argument',
      -32603,
      'Argument list too long (os error 7)',
      ['/bin/echo', 'x'.repeat(300_000)],
      {},
    ],
    [
      'foreign cwd',
      -32602,
      "cwd URI `file://server/share` is not valid on this exec-server host: 'file://server/share' is invalid on 'linux'",
      ['/bin/true'],
      { cwd: 'file://server/share' },
    ],
    [
      'a proxy that hides credentials',
      -32602,
      'invalid network proxy config: credential masking is not available on this executor',
      ['/bin/true'],
      { networkProxy: { proxy: { ...CLOSED_PROXY, credentialMasking: true } } },
    ],
  ])('%s', async (_name, code, message, argv, changes) => {
    const wire = await open();
    const { error } = await wire.request('process/start', startParams('p', argv, changes));
    expect(error).toMatchObject({ code, message });
    // The id is free again and the connection works.
    const { result } = await wire.request('process/start', startParams('p', ['/bin/true']));
    expect(result).toMatchObject({ processId: 'p' });
  });

  it('runs what takes nothing away', async () => {
    const wire = await open();
    const sandbox = { permissions: { type: 'disabled' }, windowsSandboxLevel: 'disabled' };
    const { result } = await wire.request('process/start', startParams('p', ['/bin/true'], { sandbox }));
    expect(result).toEqual({ processId: 'p', sandboxType: 'none', pid: expect.any(Number) });
  });
});

describe('ids', () => {
  it('are taken while the process runs and after it closed', async () => {
    const wire = await open();
    await wire.request('process/start', shellParams('dup', 'true'));
    const again = () => wire.request('process/start', shellParams('dup', 'true'));
    const taken = { code: -32600, message: 'process dup already exists' };
    expect((await again()).error).toMatchObject(taken);
    await untilClosed(wire, 'dup');
    expect((await again()).error).toMatchObject(taken);
  });

  it('may be empty', async () => {
    const wire = await open();
    expect((await wire.request('process/start', shellParams('', 'true'))).result).toMatchObject({
      processId: '',
    });
  });

  it('belong to their session', async () => {
    const server = openServer();
    const [a, b] = [await openSession(server), await openSession(server)];
    expect((await a.request('process/start', shellParams('same', 'sleep 30'))).result).toBeDefined();
    expect((await b.request('process/start', shellParams('same', 'echo b'))).result).toBeDefined();
    expect((await untilClosed(b, 'same')).stdout.toString()).toBe('b\n');
  });
});
