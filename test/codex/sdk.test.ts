import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect, type NodeMachine } from '@exec-server/client';
import { SpawnedCommand } from '@exec-server/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { CODEX_BIN, requireCodex } from './require-codex.js';

/** The SDK on the reference's own server. */
async function connectToReference(): Promise<NodeMachine> {
  const home = await mkdtemp(join(tmpdir(), 'codex-home-'));
  const server = new SpawnedCommand({
    command: [CODEX_BIN, 'exec-server'],
    args: ['--listen', 'ws://127.0.0.1:0'],
    env: { ...process.env, CODEX_HOME: home },
  });
  onTestFinished(async () => {
    server.kill('SIGTERM');
    await server.exited;
    await rm(home, { recursive: true, force: true });
  });
  for await (const line of createInterface({ input: server.stdout })) {
    if (!line.startsWith('ws://')) continue;
    const machine = await connect(line.trim());
    onTestFinished(() => machine.close());
    return machine;
  }
  throw new Error('the reference told no address');
}

describe('the SDK with the reference', () => {
  beforeEach((test) => requireCodex(test));

  it('runs, follows, reads and writes as with our own server', async () => {
    const machine = await connectToReference();
    const result = await machine.run(['sh', '-c', 'echo out; echo err >&2; exit 3']);
    expect(result.outcome).toEqual({ kind: 'exited', exitCode: 3 });
    expect([result.stdout.text(), result.stderr.text()]).toEqual(['out\n', 'err\n']);
    expect((await machine.shell`echo ${"it's"} here`).stdout.trimmed()).toBe("it's here");
    const handle = await machine.spawn(['sleep', '600']);
    expect(await handle.terminate({ graceMs: 0 })).toMatchObject({ wasRunning: true, signal: 'SIGKILL' });
    const file = join(await mkdtemp(join(tmpdir(), 'codex-sdk-')), 'file');
    await machine.fs.writeFile(file, 'there');
    expect(await machine.fs.readFile(file, 'utf8')).toBe('there');
  });

  it.each([
    ['a time limit', (machine: NodeMachine) => machine.run(['true'], { timeoutMs: 1000 })],
    ['input', (machine: NodeMachine) => machine.run(['cat'], { input: 'x' })],
    ['tags', (machine: NodeMachine) => machine.spawn(['true'], { tags: { a: 'b' } })],
    ['a list of processes', (machine: NodeMachine) => machine.processes.list().next()],
    ['a name for another file', (machine: NodeMachine) => machine.fs.rename('/tmp/a', '/tmp/b')],
  ])('says that %s is more than that server has', async (_what, call) => {
    const machine = await connectToReference();
    await expect(call(machine)).rejects.toMatchObject({ code: 'capability_missing' });
  });
});
