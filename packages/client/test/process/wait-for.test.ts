import { createServer, type Server } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ExitError, WaitTimeoutError } from '../../src/process/errors.js';
import { openMachine, sh } from '../support/machine.js';

describe('a line', () => {
  it('is found in the past and in the future, on the stream that was asked for', async () => {
    const machine = await openMachine();
    await using handle = await machine.spawn(
      sh('echo ready one; echo ready two >&2; read -r _; echo later'),
      {
        stdin: 'pipe',
      },
    );
    expect(await handle.waitFor({ line: /ready/, stream: 'stderr' })).toBe('ready two');
    expect(await handle.waitFor({ line: 'ready', stream: 'stdout' })).toBe('ready one');
    const later = handle.waitFor({ line: /^later$/g });
    await handle.stdin.write('\n');
    expect(await later).toBe('later');
  });

  it('need not have an end when it is the last', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('printf last'));
    expect(await handle.waitFor({ line: 'last' })).toBe('last');
  });

  it('is looked for behind what nobody has any more', async () => {
    const machine = await openMachine({ retainedOutputBytes: 16 * 1024 });
    const script = 'yes filler | head -c 4000000; echo; echo ready; exec sleep 300';
    await using handle = await machine.spawn(sh(script));
    expect(await handle.waitFor({ line: 'ready' })).toBe('ready');
    expect(await handle.waitFor({ line: 'ready' })).toBe('ready');
  });
});

describe('a text', () => {
  it('is found in a line that has not ended', async () => {
    const machine = await openMachine();
    await using handle = await machine.spawn(sh('printf "Password: "; read -r word; echo "<$word>"'), {
      stdin: 'pipe',
    });
    expect(await handle.waitFor({ text: /: $/ })).toBe('Password: ');
    await handle.stdin.write('secret\n');
    await handle.waitFor({ line: '<secret>' });
  });
});

describe('a port', () => {
  it('is waited for until something listens', async () => {
    const machine = await openMachine();
    const [server, port] = await listen();
    await using handle = await machine.spawn(['sleep', '300']);
    expect(await handle.waitFor({ port, host: '127.0.0.1', timeoutMs: 20_000 })).toBeUndefined();
    await new Promise((resolve) => server.close(resolve));
    await expect(handle.waitFor({ port, host: '127.0.0.1', timeoutMs: 50 })).rejects.toMatchObject({
      code: 'wait_timeout',
      message: `port ${port} did not open within 50 ms`,
    });
  });

  it('is not waited for when the process has ended', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('exit 1'));
    await expect(handle.waitFor({ port: 1 })).rejects.toBeInstanceOf(ExitError);
  });

  it('is refused by a server that cannot wait for it', async () => {
    const machine = await openMachine({ disabledCapabilities: ['netWaitForPort'] });
    await using handle = await machine.spawn(['sleep', '300']);
    await expect(handle.waitFor({ port: 1 })).rejects.toMatchObject({ code: 'capability_missing' });
  });
});

describe('silence', () => {
  it('is there when nothing came for so long', async () => {
    const machine = await openMachine();
    await using handle = await machine.spawn(sh('echo noise; exec sleep 300'));
    expect(await handle.waitFor({ quietMs: 50 })).toBeUndefined();
  });

  it('does not come while a process goes on writing, and is told as late with what it wrote', async () => {
    const machine = await openMachine();
    await using handle = await machine.spawn(['yes']);
    await handle.waitFor({ line: 'y' });
    const error = await handle.waitFor({ quietMs: 60_000, timeoutMs: 50 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect((error as WaitTimeoutError).result.stdout.excerpt()).toContain('y\ny\n');
  });

  it('of the dead does not count', async () => {
    const machine = await openMachine();
    const handle = await machine.spawn(sh('exit 8'));
    await expect(handle.waitFor({ quietMs: 60_000 })).rejects.toMatchObject({ code: 'exit' });
    await expect(handle.waitFor({ quietMs: 0 })).rejects.toMatchObject({ code: 'exit' });
  });
});

it('an abort ends the wait with its reason and leaves the process alone', async () => {
  const machine = await openMachine();
  await using handle = await machine.spawn(['sleep', '300']);
  const controller = new AbortController();
  const reason = new Error('enough');
  const waiting = handle.waitFor({ line: 'never', signal: controller.signal });
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(handle.outcome).toBeUndefined();
});

it.each([
  { line: 'x', quietMs: 1 },
  { line: 'x', text: 'x' },
  { port: 1, line: 'x' },
  { port: 1, stream: 'stdout' },
  { line: 'x', host: 'localhost' },
])('is about one thing, and %j is not', async (condition) => {
  const machine = await openMachine();
  await using handle = await machine.spawn(sh('echo x; exec sleep 300'));
  await expect(handle.waitFor(condition as unknown as { port: number })).rejects.toMatchObject({
    code: 'usage',
  });
});

it('takes what is undefined as not said', async () => {
  const machine = await openMachine();
  await using handle = await machine.spawn(sh('echo x; exec sleep 300'));
  const condition = { line: 'x', port: undefined, quietMs: undefined, timeoutMs: undefined };
  expect(await handle.waitFor(condition as unknown as { line: string })).toBe('x');
});

it('waits longer than a timer can', async () => {
  const machine = await openMachine();
  await using handle = await machine.spawn(sh('sleep 0.2; echo x; exec sleep 300'));
  expect(await handle.waitFor({ line: 'x', timeoutMs: 2 ** 31 })).toBe('x');
  await expect(handle.waitFor({ quietMs: 2 ** 31, timeoutMs: 50 })).rejects.toMatchObject({
    code: 'wait_timeout',
  });
});

it('needs something to wait for', async () => {
  const machine = await openMachine();
  await using handle = await machine.spawn(['sleep', '300']);
  await expect(handle.waitFor({ timeoutMs: 1 } as unknown as { port: number })).rejects.toMatchObject({
    code: 'usage',
  });
  await expect(handle.waitFor({ lines: 'x' } as unknown as { port: number })).rejects.toMatchObject({
    code: 'usage',
  });
});

async function listen(): Promise<[Server, number]> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return [server, (server.address() as { port: number }).port];
}
