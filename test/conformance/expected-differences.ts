import type { EventLine, Line, ServerLine } from './transcript.js';

/** A place where this server does something else than the recorded one, on purpose. */
export interface ExpectedDifference {
  readonly scenario: string;
  /** First and last line of the recording that read otherwise here. */
  readonly lines: readonly [first: number, last: number];
  /** The row of docs/compatibility.md that gives the reason. */
  readonly topic: string;
  /** What happens instead; it has to happen, or the scenario fails. */
  readonly instead: readonly Line[];
}

/** What every `initialize` result carries here beside the recorded members. */
export const INITIALIZE_ADDITION = {
  topic: '`initialize` result',
  members: { protocolVersion: 'exec-server.v0' },
} as const;

/** Capabilities that the recorded server does not have, wherever they are listed. */
export const ADDED_CAPABILITIES = {
  topic: 'Capabilities of our own',
  members: {
    fsRename: true,
    fsSetMode: true,
    fsAtomicWrite: true,
    fsListBroken: true,
    fsLinks: true,
    fsFullMetadata: true,
    fsResumableStreams: true,
    fsWatch: true,
    httpCancel: true,
    binaryOutput: true,
    netWaitForPort: true,
    promptStatus: true,
    sessionTakeover: true,
    processAttach: true,
    processCloseStdin: true,
    processGracefulTerminate: true,
    processKeepAlive: true,
    processLifecycleEvents: true,
    processOutputCap: true,
    processSignals: true,
    processSize: true,
    sessionEnd: true,
    processHold: true,
    processRemove: true,
    processSnapshot: true,
    processSpill: true,
    processStartKey: true,
    processTraceEnv: true,
    processStartPrepared: true,
    processTags: true,
    processTimeout: true,
    processWait: true,
  },
} as const;

export const EXPECTED_DIFFERENCES: readonly ExpectedDifference[] = [
  {
    scenario: '01-initialize-handshake',
    lines: [9, 9],
    topic: 'Close frames',
    instead: [closed('A', 1000)],
  },
  {
    scenario: '02-initialize-duplicate',
    lines: [11, 11],
    topic: 'Close frames',
    instead: [closed('A', 1000)],
  },
  {
    scenario: '05-unknown-method',
    lines: [7, 7],
    topic: 'The oldest generation',
    instead: [error('A', 2, -32600, 'client must call initialize before using exec methods')],
  },
  {
    scenario: '08-unknown-notification-closes',
    lines: [8, 8],
    topic: 'Close frames',
    instead: [closed('A', 1002, 'unexpected notification method: foo/bar')],
  },
  {
    scenario: '09-initialized-before-initialize-closes',
    lines: [5, 5],
    topic: 'Close frames',
    instead: [closed('A', 1002, 'received `initialized` notification before `initialize`')],
  },
  {
    scenario: '10-unexpected-response-closes',
    lines: [8, 8],
    topic: 'Close frames',
    instead: [closed('A', 1002, 'unexpected client response for request id 77')],
  },
  {
    scenario: '10-unexpected-response-closes',
    lines: [14, 14],
    topic: 'Close frames',
    instead: [closed('B', 1002, 'unexpected client response for request id 77')],
  },
  {
    scenario: '23-process-pty',
    lines: [22, 22],
    topic: 'Death by signal in a pty',
    instead: [exited('tty', 6, 137)],
  },
  {
    scenario: '23-process-pty',
    lines: [32, 35],
    topic: 'A pty whose cwd is missing',
    instead: [error('A', 8, -32603, 'No such file or directory (os error 2)')],
  },
  {
    scenario: '27-process-read-longpoll',
    lines: [22, 23],
    topic: 'Concurrent requests',
    instead: [
      result('A', 8, { status: 'ready' }),
      result('A', 7, {
        chunks: [],
        nextSeq: 1,
        exited: false,
        exitCode: null,
        closed: false,
        failure: null,
        sandboxDenied: false,
      }),
    ],
  },
  {
    scenario: '32-process-arg0',
    lines: [13, 13],
    topic: '`arg0` in a pty',
    instead: [
      result('A', 3, { processId: 'b', sandboxType: 'none' }),
      output('b', 1, 'pty', 'custom0\r\n'),
      exited('b', 2, 0),
      closedProcess('b', 3),
    ],
  },
  {
    scenario: '32-process-arg0',
    lines: [15, 18],
    topic: '`arg0` in a pty',
    instead: [error('A', 4, -32603, 'No such file or directory (os error 2)')],
  },
  {
    scenario: '40-session-resume',
    lines: [16, 16],
    topic: 'Close frames',
    instead: [closed('A', 1000)],
  },
  {
    scenario: '40-session-resume',
    lines: [33, 33],
    topic: 'Close frames',
    instead: [closed('B', 1000)],
  },
  {
    scenario: '90-http-surface',
    lines: [6, 6],
    topic: '`/healthz`',
    instead: [
      {
        event: 'http',
        method: 'GET',
        path: '/healthz',
        requestHeaders: {},
        status: 200,
        allow: null,
        contentType: null,
        body: '',
      },
    ],
  },
  {
    scenario: '95-listen-errors',
    lines: [3, 3],
    topic: 'Listen URLs',
    instead: [refused(['--listen', 'http://127.0.0.1:0'], unsupportedUrl('http://127.0.0.1:0'))],
  },
  {
    scenario: '95-listen-errors',
    lines: [5, 5],
    topic: 'Listen URLs',
    instead: [refused(['--listen', 'wss://127.0.0.1:0'], unsupportedUrl('wss://127.0.0.1:0'))],
  },
  {
    scenario: '95-listen-errors',
    lines: [6, 6],
    topic: 'Listen URLs',
    // Not the recorded path: where it can be made, it would be.
    instead: [running('unix://$TMPROOT/socket', 'unix://$TMPROOT/socket')],
  },
  {
    scenario: '95-listen-errors',
    lines: [7, 7],
    topic: 'Start of the command',
    instead: [running('ws://127.0.0.1:0', 'ws://127.0.0.1:$PORT')],
  },
  {
    scenario: '95-listen-errors',
    lines: [8, 8],
    topic: 'Refusals of the command line',
    instead: [
      {
        event: 'cli',
        args: ['--exit-on-stdin-close'],
        exit: 2,
        stdout: '',
        stderr:
          "error: unexpected argument '--exit-on-stdin-close' found\n" +
          "Usage: exec-server [OPTIONS] [COMMAND]\nFor more information, try '--help'.",
      },
    ],
  },
];

function refused(args: readonly string[], stderr: string): EventLine {
  return { event: 'cli', args, exit: 1, stdout: '', stderr: `Error: ${stderr}` };
}

function running(listen: string, banner: string): EventLine {
  return {
    event: 'cli',
    args: ['--listen', listen],
    exit: 'running',
    stdout: `${banner}\n`,
    stderr: `exec-server listening on ${banner}`,
  };
}

export function unsupportedUrl(url: string): string {
  return (
    `unsupported --listen URL \`${url}\`; expected \`ws://IP:PORT\` or \`stdio\` ` +
    '(also `unix:///PATH`, and `wss://IP:PORT` with --tls-cert and --tls-key)'
  );
}

function closed(conn: string, code: number, reason = ''): EventLine {
  return { event: 'close', conn, code, reason };
}

function result(conn: string, id: number, members: Record<string, unknown>): ServerLine {
  return { dir: 's2c', conn, msg: { id, result: members } };
}

function error(conn: string, id: number, code: number, message: string): ServerLine {
  return { dir: 's2c', conn, msg: { error: { code, message }, id } };
}

function output(processId: string, seq: number, stream: string, text: string): ServerLine {
  const chunk = Buffer.from(text).toString('base64');
  return {
    dir: 's2c',
    conn: 'A',
    msg: { method: 'process/output', params: { processId, seq, stream, chunk } },
  };
}

function exited(processId: string, seq: number, exitCode: number): ServerLine {
  const params = { processId, seq, exitCode, sandboxDenied: false };
  return { dir: 's2c', conn: 'A', msg: { method: 'process/exited', params } };
}

function closedProcess(processId: string, seq: number): ServerLine {
  return { dir: 's2c', conn: 'A', msg: { method: 'process/closed', params: { processId, seq } } };
}
