import { type ExpectedDifference, unsupportedUrl } from './expected-differences.js';
import type { EventLine, ServerLine } from './transcript.js';

/** The code that a client sees which closes its connection, where the recorded app-server just dropped it. */
export const ANSWERED_CLOSE_CODE = 1000;

/** Where this server does something else than the recorded app-server, on purpose. */
export const APP_DIFFERENCES: readonly ExpectedDifference[] = [
  {
    scenario: 'app/05-tty-resize',
    lines: [19, 19],
    topic: 'Death by signal in a pty',
    instead: [result(2, { exitCode: 137, stdout: '', stderr: '' })],
  },
  {
    scenario: 'app/09-terminate',
    lines: [18, 18],
    topic: 'Death by signal in a pty',
    instead: [result(5, { exitCode: 137, stdout: '', stderr: '' })],
  },
  {
    scenario: 'app/13-spawn-failures',
    lines: [20, 21],
    topic: 'A pty whose cwd is missing',
    instead: [
      {
        dir: 's2c',
        conn: 'a',
        msg: {
          error: { code: -32603, message: 'failed to spawn command: No such file or directory (os error 2)' },
          id: 8,
        },
      },
    ],
  },
  {
    scenario: 'app/19-sandbox',
    lines: [26, 26],
    topic: 'Commands without a policy',
    instead: [result(11, { exitCode: 0, stdout: 'wrote\nwrote-outside\n', stderr: '' })],
  },
  {
    scenario: 'app/23-stdin-backpressure',
    lines: [8, 8],
    topic: 'Blocked stdin',
    instead: [
      note(
        'terminate sent after 1s: answer {"id":7000,"result":{}}; ' +
          'final {"id":2,"result":{"exitCode":137,"stdout":"","stderr":""}}',
      ),
    ],
  },
  {
    scenario: 'app/31-process-streaming',
    lines: [23, 23],
    topic: 'Death by signal in a pty',
    instead: [
      notification('process/exited', {
        processHandle: 'q2',
        exitCode: 137,
        outputDrainTimedOut: false,
        stdout: '',
        stdoutCapReached: false,
        stderr: '',
        stderrCapReached: false,
      }),
    ],
  },
  ...[10, 16].map((line) => ({
    scenario: 'app/41-config-read',
    lines: [line, line] as const,
    topic: '`config/read`',
    instead: [
      result(line === 10 ? 3 : 6, {
        config: {},
        origins: {},
        layers: [layer({ type: 'sessionFlags' }), layer({ type: 'packagedDefaults' })],
      }),
    ],
  })),
  {
    scenario: 'app/42-http-endpoints',
    lines: [6, 6],
    topic: 'Paths of the listener',
    instead: [note('HTTP GET /other  -> 404 "" ')],
  },
  {
    scenario: 'app/42-http-endpoints',
    lines: [12, 12],
    topic: 'Paths of the listener',
    instead: [note('ws connect path /any/thing: HTTP 404')],
  },
  {
    scenario: 'app/42-http-endpoints',
    lines: [13, 13],
    topic: 'Start of the command',
    instead: [
      note(
        'banner: exec-server listening on ws://127.0.0.1:$PORT | connect a client to ws://127.0.0.1:$PORT, ' +
          'for one with CODEX_EXEC_SERVER_URL=ws://127.0.0.1:$PORT codex; Ctrl-C ends the server',
      ),
    ],
  },
  startRefused(1, '--listen ws://localhost:1234', invalidUrl('ws://localhost:1234')),
  startRefused(2, '--listen http://127.0.0.1:1', unsupportedUrl('http://127.0.0.1:1')),
  startRefused(3, '--listen off', unsupportedUrl('off')),
  startRefused(
    4,
    '--listen ws://0.0.0.0:0',
    'refusing to listen on ws://0.0.0.0:0 without authentication, because anybody who reaches it could run ' +
      'programs here; add `--ws-auth capability-token --ws-token-file FILE`, listen on a loopback address, ' +
      'or pass `--allow-unauthenticated` if the network itself is trusted',
  ),
  startRefused(5, '--listen ws://127.0.0.1', invalidUrl('ws://127.0.0.1')),
  startRefused(
    8,
    '--ws-auth capability-token --ws-token-file rel',
    'failed to read websocket auth secret rel: No such file or directory (os error 2)',
  ),
  {
    scenario: 'app/47-frame-limits',
    lines: [9, 9],
    topic: 'Frame size',
    instead: [note('one text frame of about 17 MiB -> {"id":8017,"result":{}}; closed=null')],
  },
  {
    scenario: 'app/51-fs-watch',
    lines: [32, 32],
    topic: 'A watched file that was replaced',
    instead: [note('20 rapid writes'), changed('wf', 'f')],
  },
  {
    scenario: 'app/52-fs-watch-bursts',
    lines: [20, 20],
    topic: 'A watched file that was replaced',
    instead: [note('write the new f in place'), changed('f', 'f')],
  },
];

function startRefused(line: number, args: string, message: string): ExpectedDifference {
  const exit = JSON.stringify({ code: 1, signal: null });
  return {
    scenario: 'app/43-listen-and-auth',
    lines: [line, line],
    topic: 'Refusals of the command line',
    instead: [note(`${args}: exit=${exit} stderr=${JSON.stringify(`Error: ${message}`)}`)],
  };
}

function invalidUrl(url: string): string {
  return `invalid websocket --listen URL \`${url}\`; expected \`ws://IP:PORT\``;
}

function note(text: string): EventLine {
  return { event: 'note', text };
}

function result(id: number, members: Record<string, unknown>): ServerLine {
  return { dir: 's2c', conn: 'a', msg: { id, result: members } };
}

function notification(method: string, params: Record<string, unknown>): ServerLine {
  const msg = { method, params, emittedAtMs: '$MS' };
  return { dir: 's2c', conn: 'a', msg };
}

function changed(watchId: string, ...names: string[]): ServerLine {
  return notification('fs/changed', { watchId, changedPaths: names.map((name) => `$CWD/${name}`) });
}

function layer(name: { readonly type: string }): Record<string, unknown> {
  return { name, version: `sha256:${'0'.repeat(64)}`, config: {} };
}
