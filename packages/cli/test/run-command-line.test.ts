import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../src/run-command-line.js';
import { FakeIo } from './support.js';

async function run(...args: string[]) {
  const io = new FakeIo();
  const code = await runCommandLine(args, io);
  return { code, stdout: io.stdout.text, stderr: io.stderr.text };
}

const HELP_HINT = "\n\nFor more information, try '--help'.\n";
const USAGE_HINT = `\n\nUsage: exec-server [OPTIONS] [COMMAND]${HELP_HINT}`;

it.each(['--version', '-V'])('%s prints the version', async (flag) => {
  expect(await run(flag)).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    stderr: '',
  });
});

it.each([[['--help']], [['-h']], [['help']], [['serve', '--help']], [['help', 'serve']]])(
  '%j prints help with every option of the server',
  async (args) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const option of ['--listen <URL>', '--ws-auth <MODE>', '--audit-log <FILE>', '--tls-key <FILE>']) {
      expect(stdout).toContain(option);
    }
    expect(stdout).not.toContain('unexpected');
  },
);

it('explains itself at a terminal', async () => {
  const io = new FakeIo();
  io.stdin.isTTY = true;
  expect(await runCommandLine([], io)).toBe(0);
  expect(io.stdout.text.match(/^ {2}exec-server --listen /gm)).toHaveLength(3);
  expect(io.stderr.text).toBe('');
});

describe('arguments that make no sense end with code 2', () => {
  it.each<[string[], string]>([
    [['--nope'], `unexpected argument '--nope' found${USAGE_HINT}`],
    [['--exit-on-stdin-close'], `unexpected argument '--exit-on-stdin-close' found${USAGE_HINT}`],
    [
      ['--lisen', 'stdio'],
      `unexpected argument '--lisen' found\n\n  tip: a similar argument exists: '--listen'${USAGE_HINT}`,
    ],
    [['nope'], `unrecognized subcommand 'nope'${USAGE_HINT}`],
    [['--listen'], `a value is required for '--listen <URL>' but none was supplied${HELP_HINT}`],
    [
      ['--concurrent-requests', '0'],
      `invalid value '0' for '--concurrent-requests <COUNT>': number would be zero for non-zero type${HELP_HINT}`,
    ],
    [
      ['--concurrent-requests=-1'],
      `invalid value '-1' for '--concurrent-requests <COUNT>': invalid digit found in string${HELP_HINT}`,
    ],
    [
      ['--concurrent-requests', '1', '--concurrent-requests', '2'],
      `the argument '--concurrent-requests <COUNT>' cannot be used multiple times${USAGE_HINT}`,
    ],
    [
      ['--max-processes', '0'],
      `invalid value '0' for '--max-processes <COUNT>': number would be zero for non-zero type${HELP_HINT}`,
    ],
    [
      ['--allow-direct-exec', 'yes'],
      `invalid value 'yes' for '--allow-direct-exec <BOOL>'\n  [possible values: true, false]${HELP_HINT}`,
    ],
    [
      ['--config', 'a', '--config', 'b'],
      `the argument '--config <FILE>' cannot be used multiple times${USAGE_HINT}`,
    ],
    [
      ['--ws-auth', 'foo'],
      `invalid value 'foo' for '--ws-auth <MODE>'\n  [possible values: capability-token, signed-bearer-token]${HELP_HINT}`,
    ],
    [
      ['--log-level', 'loud'],
      `invalid value 'loud' for '--log-level <LEVEL>'\n  [possible values: debug, info, warn, error, silent]${HELP_HINT}`,
    ],
  ])('%j', async (args, message) => {
    expect(await run(...args)).toEqual({ code: 2, stdout: '', stderr: `error: ${message}` });
    expect(await run('serve', ...args)).toEqual({ code: 2, stdout: '', stderr: `error: ${message}` });
  });
});

describe('a server that cannot start ends with code 1', () => {
  it.each<[string[], string]>([
    [
      ['--listen', 'ws://localhost:0'],
      'invalid websocket --listen URL `ws://localhost:0`; expected `ws://IP:PORT`',
    ],
    [
      ['--listen', 'ws://127.0.0.1'],
      'invalid websocket --listen URL `ws://127.0.0.1`; expected `ws://IP:PORT`',
    ],
    [
      ['--listen', 'http://127.0.0.1:0'],
      'unsupported --listen URL `http://127.0.0.1:0`; expected `ws://IP:PORT` or `stdio` ' +
        '(also `unix:///PATH`, and `wss://IP:PORT` with --tls-cert and --tls-key)',
    ],
    [
      ['--ws-auth', 'capability-token'],
      '`--ws-token-file` or `--ws-token-sha256` is required when `--ws-auth capability-token` is set',
    ],
    [
      ['--ws-token-file', '/x'],
      'websocket auth flags require `--ws-auth capability-token` or `--ws-auth signed-bearer-token`',
    ],
    [
      ['--listen', 'stdio', '--ws-auth', 'capability-token', '--ws-token-sha256', '0'.repeat(64)],
      'WebSocket auth requires a WebSocket listener, not stdio',
    ],
    [['--config', '/nope/x'], "failed to read /nope/x: ENOENT: no such file or directory, open '/nope/x'"],
    [
      ['--audit-log', '/nope/x'],
      "cannot write the audit log /nope/x: ENOENT: no such file or directory, open '/nope/x'",
    ],
  ])('%j', async (args, message) => {
    expect(await run(...args)).toEqual({ code: 1, stdout: '', stderr: `Error: ${message}\n` });
  });
});
