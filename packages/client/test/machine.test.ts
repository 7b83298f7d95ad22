import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../src/node/connect.js';
import { collect, openServer, sh } from './support/machine.js';

/** A server on a socket of its own. */
async function listen(): Promise<string> {
  const { url } = await openServer().listen('ws://127.0.0.1:0');
  return url;
}

describe('a machine over a WebSocket', () => {
  it('runs, follows, drives and ends processes', async () => {
    await using machine = await connect(await listen());
    const sum = await machine.run(['wc', '-c'], { input: 'x'.repeat(300_000), check: true });
    expect(sum.stdout.trimmed()).toBe('300000');
    expect((await machine.shell`echo ${'a  b'}`).stdout.text()).toBe('a  b\n');
    await using server = await machine.spawn(sh('echo ready; cat'), { stdin: 'pipe', tags: { role: 'web' } });
    await server.waitFor({ line: 'ready' });
    await server.stdin.write('rs\n');
    expect(await server.waitFor({ line: 'rs' })).toBe('rs');
    const listed = await collect(machine.processes.list({ tags: { role: 'web' } }));
    expect(listed.map(({ id, pid, state }) => ({ id, pid, state }))).toEqual([
      { id: server.id, pid: server.pid, state: 'running' },
    ]);
    expect(await server.terminate({ graceMs: 5000 })).toMatchObject({ wasRunning: true });
    await using term = await machine.pty(['cat'], { cols: 40, rows: 10 });
    await term.write('typed\r');
    await term.waitFor({ line: 'typed' });
    expect((await term.snapshot()).lines[0]).toBe('typed');
  });

  it('carries a flood in both directions', async () => {
    await using machine = await connect(await listen());
    const input = 'y'.repeat(4 * 1024 * 1024);
    const { stdout } = await machine.run(['cat'], {
      input,
      output: { headBytes: input.length, tailBytes: 0 },
    });
    expect(stdout.totalBytes).toBe(input.length);
    expect(stdout.text() === input).toBe(true);
  });

  it('reaches files and the network of its host', async () => {
    await using machine = await connect(await listen());
    const web = createServer((_, response) => response.end('healthy'));
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void web.close());
    const { port } = web.address() as AddressInfo;
    expect(await (await machine.fetch(`http://127.0.0.1:${port}/health`)).text()).toBe('healthy');
    expect(await machine.fs.readFile('/proc/self/comm', 'utf8')).not.toBe('');
    expect((await machine.environment()).shell.path).toMatch(/^\//);
  });

  it('is left and taken up again by another client that has its session', async () => {
    const url = await listen();
    const first = await connect(url);
    const job = await first.spawn(sh('echo one; read -r _; echo two; exit 3'), { id: 'job', stdin: 'pipe' });
    await job.waitFor({ line: 'one' });
    const { cursor } = job;
    await first.close();
    await using second = await connect(url, { resumeSessionId: first.sessionId as string });
    expect(second.sessionId).toBe(first.sessionId);
    const again = await second.attach('job', { from: cursor });
    await again.stdin.write('\n');
    expect(await again.stdout.text()).toBe('two\n');
    expect(await again.wait()).toEqual({ kind: 'exited', exitCode: 3 });
  });
});
