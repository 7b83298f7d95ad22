import { startServer } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/run-command-line.js';
import { FakeIo, type TextSink } from '../support.js';

/** Resolves when the text has been written there. */
async function untilSaid(stream: TextSink, text: string): Promise<void> {
  while (!stream.text.includes(text)) await new Promise((resolve) => stream.once('said', resolve));
}

function openTerminal(): FakeIo {
  const io = new FakeIo();
  io.stdin.isTTY = true;
  io.stdout.isTTY = true;
  return io;
}

describe('a server that is gone', () => {
  it('is told on a terminal, where Ctrl-C leaves, whatever was typed before', async () => {
    await using server = await startServer();
    const io = openTerminal();
    const args = ['run', '-t', '--connect', server.url, '--', 'sh', '-c', 'echo begun; exec sleep 600'];
    const running = runCommandLine(args, io);
    await untilSaid(io.stdout, 'begun');
    server.kill('SIGKILL');
    await untilSaid(io.stderr, 'reconnecting… (Ctrl-C leaves)');
    for (const keys of ['l', 's', '\r', '\u0003']) io.stdin.write(keys);
    expect(await running).toBe(125);
    expect(io.stderr.text).toContain('left while the server could not be reached');
    expect(io.rawModes.at(-1)).toBe(false);
    expect(io.listeners).toBe(0);
  });

  it('is told to who attached, and a signal leaves', async () => {
    await using server = await startServer();
    const starting = new FakeIo();
    const start = [
      'run',
      '-d',
      '--id',
      'p',
      '--connect',
      server.url,
      '--',
      'sh',
      '-c',
      'echo begun; exec sleep 600',
    ];
    expect(await runCommandLine(start, starting)).toBe(0);
    const io = new FakeIo();
    const attached = runCommandLine(['attach', '--connect', server.url, 'p'], io);
    await untilSaid(io.stdout, 'begun');
    server.kill('SIGKILL');
    await untilSaid(io.stderr, 'reconnecting… (Ctrl-C leaves)');
    io.signal('SIGINT');
    expect(await attached).toBe(125);
    expect(io.stderr.text).toContain('exec-server inspect p');
  });
});
