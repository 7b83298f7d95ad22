import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/run-command-line.js';
import { FakeIo } from '../support.js';
import { openSessions, untilSaid } from './process-support.js';

describe('a process on pipes', () => {
  it('is joined with its history, gets what is typed, and gives its exit code', async () => {
    const { command, start } = await openSessions();
    await start('job', 'echo before; read -r word; echo "got $word"; exit 6');
    const io = new FakeIo();
    io.stdin.end('hello\n');
    expect(await command('attach', ['job'], io)).toEqual({
      code: 6,
      stdout: 'before\ngot hello\n',
      stderr: '',
    });
    expect(await command('attach', ['job'])).toMatchObject({ code: 6, stdout: 'before\ngot hello\n' });
  });

  it('is told of signals', async () => {
    const { url, start } = await openSessions();
    await start('job', "trap 'exit 9' INT; echo ready; while :; do sleep 0.05; done");
    const io = new FakeIo();
    const attached = runCommandLine(['attach', '-n', '--connect', url, 'job'], io);
    await untilSaid(io, 'ready');
    io.signal('SIGINT');
    expect(await attached).toBe(9);
  });

  it('is only watched if asked to', async () => {
    const { url, command, start } = await openSessions();
    await start('job', 'echo ready; read -r word; echo "$word"; exit 6');
    const io = new FakeIo();
    io.stdin.end('ignored\n');
    const watching = runCommandLine(['attach', '--view', '--connect', url, 'job'], io);
    await untilSaid(io, 'ready');
    expect(io.listeners).toBe(0);
    const other = new FakeIo();
    other.stdin.end('heard\n');
    await command('attach', ['job'], other);
    expect(await watching).toBe(0);
    expect(io.stdout.text).toBe('ready\nheard\n');
  });
});

describe('a process on a terminal', () => {
  function createTerminal(columns: number, rows: number): FakeIo {
    const io = new FakeIo();
    io.stdin.isTTY = true;
    Object.assign(io.stdout, { isTTY: true, columns, rows });
    return io;
  }

  const SHELL = 'stty -echo; echo ready; while read -r line; do eval "$line"; done';

  it('has its screen painted, takes the size of this one, and can be left and joined again', async () => {
    const { url, start } = await openSessions();
    await start('term', SHELL, '-t');
    const first = createTerminal(90, 30);
    const attached = runCommandLine(['attach', '--connect', url, 'term'], first);
    await untilSaid(first, 'ready');
    expect(first.rawModes).toEqual([true]);
    first.stdin.write('stty size\n');
    await untilSaid(first, '30 90');
    Object.assign(first.stdout, { columns: 100, rows: 40 });
    first.stdout.emit('resize');
    first.stdin.write('stty size\n');
    await untilSaid(first, '40 100');
    first.stdin.write('echo lost\x10');
    first.stdin.write('\x11');
    expect(await attached).toBe(0);
    expect(first.rawModes).toEqual([true, false]);
    expect(first.stderr.text).toContain('come back by: exec-server attach term');
    const second = createTerminal(90, 30);
    const again = runCommandLine(['attach', '--connect', url, 'term'], second);
    await untilSaid(second, '40 100');
    second.stdin.write('\nexit 5\n');
    expect(await again).toBe(5);
  });

  it('whose keys to leave are none is only left with its end', async () => {
    const { url, start } = await openSessions();
    await start('term', SHELL, '-t');
    const io = createTerminal(80, 24);
    const attached = runCommandLine(['attach', '--detach-keys', 'none', '--connect', url, 'term'], io);
    await untilSaid(io, 'ready');
    io.stdin.write('exit 5\n');
    expect(await attached).toBe(5);
  });
});

it('keys that make no sense are refused', async () => {
  const { command } = await openSessions();
  const { code, stderr } = await command('attach', ['--detach-keys', 'nope', 'x']);
  expect({ code, stderr }).toMatchObject({
    code: 125,
    stderr: expect.stringContaining("'--detach-keys <KEYS>'"),
  });
});
