import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { connect } from '@exec-server/client';
import { createExecServer } from '@exec-server/server';
import { type Fault, FaultProxy, fixture, isRunning, SpawnedCommand } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';

/**
 * Complaints about products of this kind that need a server of its own, each by its number and sentence; the others are
 * with the client.
 */

const ROOT = join(import.meta.dirname, '../..');

async function listen(): Promise<string> {
  const server = createExecServer();
  onTestFinished(() => server.close());
  return (await server.listen('ws://127.0.0.1:0')).url;
}

describe('hangs', () => {
  it('11: what hogs the machine starves the control channel', async () => {
    await using machine = await connect(await listen());
    await using flood = await machine.spawn([fixture('flood')], { graceMs: 0 });
    await flood.waitFor({ text: '' });
    // Nobody reads the flood; whoever asks is answered all the same.
    expect((await machine.run(['echo', 'heard'])).stdout.trimmed()).toBe('heard');
    expect(await flood.terminate()).toMatchObject({ wasRunning: true, signal: 'SIGKILL' });
  });
});

describe('orphans and kill', () => {
  it('13: group kill misses children that called setsid', async () => {
    await using machine = await connect(await listen());
    const handle = await machine.spawn([fixture('setsid-grandchild')]);
    const escaped = Number(await handle.waitFor({ line: /\d/ }));
    const { pids } = await handle.terminate({ graceMs: 0 });
    expect(pids).toContain(escaped);
    expect(isRunning(escaped)).toBe(false);
  });
});

describe('reconnect', () => {
  const LINES = 40;

  it('27: a fixed retry budget loses the run', async () => {
    // More losses than any such budget, each after some progress.
    const faults: Fault[] = Array.from({ length: 30 }, (_, index) => ({
      connection: index + 1,
      direction: 'toClient',
      at: { message: 6 },
      action: 'cut',
    }));
    await using proxy = await FaultProxy.start(await listen(), faults);
    await using machine = await connect(proxy.url, { reconnect: { deadlineMs: 20_000, minDelayMs: 1 } });
    const handle = await machine.spawn(['/bin/cat'], { stdin: 'pipe' });
    for (let line = 1; line <= LINES; line++) await handle.stdin.write(`${line}\n`);
    await handle.stdin.end();
    const { stdout, outcome } = await handle.result();
    expect(proxy.connections).toBeGreaterThan(10);
    expect(outcome).toEqual({ kind: 'exited', exitCode: 0 });
    expect(stdout.lines()).toEqual(Array.from({ length: LINES }, (_, index) => String(index + 1)));
  });

  it('28: retried stdin is written twice', async () => {
    const isWriteAnswer = ({ result }: { readonly result?: object | null }) =>
      result !== undefined && result !== null && 'status' in result;
    const faults: Fault[] = [1, 2, 3].map((connection) => ({
      connection,
      direction: 'toClient',
      at: { matching: isWriteAnswer, name: 'the answer to a write' },
      action: 'cut',
    }));
    await using proxy = await FaultProxy.start(await listen(), faults);
    await using machine = await connect(proxy.url);
    const handle = await machine.spawn(['/bin/cat'], { stdin: 'pipe' });
    await handle.stdin.write('once\n');
    await handle.stdin.end();
    expect((await handle.result()).stdout.text()).toBe('once\n');
    expect(proxy.pending).toEqual([]);
  });
});

describe('security', () => {
  const statusOf = (url: string, options: WebSocket.ClientOptions) =>
    new Promise<number | undefined>((resolve) => {
      const socket = new WebSocket(url, options);
      socket.on('open', () => {
        resolve(101);
        socket.close();
      });
      socket.on('unexpected-response', (_request, response) => {
        resolve(response.statusCode);
        response.destroy();
      });
      socket.on('error', () => {});
    });

  it('32: a loopback WebSocket is open to any page', async () => {
    const url = await listen();
    expect(await statusOf(url, {})).toBe(101);
    expect(await statusOf(url, { origin: 'https://evil.example' })).toBe(403);
    expect(await statusOf(url, { headers: { host: 'rebound.example' } })).toBe(403);
  });
});

describe('platform', () => {
  it('37: the sandbox does not start, and nobody says what is missing', async () => {
    const doctor = new SpawnedCommand({ args: ['doctor'], env: { PATH: '/nonexistent' } });
    const [said] = await Promise.all([text(doctor.stdout), doctor.exited]);
    expect(said).toMatch(/ok +sandbox +helper, confines what programs write/);
    expect(said).toMatch(
      /sandbox bubblewrap +does not work, and is not needed: bubblewrap \(`bwrap`\) is not installed/,
    );
  });
});

describe('documentation', () => {
  it('43: docs lag the protocol', async () => {
    const check = promisify(execFile)(process.execPath, [
      join(ROOT, 'scripts/generate-protocol-docs.mjs'),
      '--check',
    ]);
    await expect(check).resolves.toBeDefined();
  });
});
