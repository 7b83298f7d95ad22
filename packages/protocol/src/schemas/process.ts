import * as z from 'zod/mini';
import { base64, describe, flag, integer, list, map, oneOf, pathUri, text, uuid } from '../fields.js';
import { defaulted, nullable, struct } from '../struct.js';
import { ShellInfo } from './environment.js';
import { ManagedNetwork, NetworkProxyLaunch } from './network.js';
import { SandboxContext } from './sandbox.js';

/** Who started the process. The server hands it to the child as variables. */
export const ProcessMetadata = struct('ExecMetadata', {
  threadId: nullable(uuid('Becomes `CODEX_THREAD_ID`.'), { omittable: true }),
  toolCallId: nullable(text('Becomes `CODEX_TOOL_CALL_ID`.'), { omittable: true }),
});
export type ProcessMetadata = z.output<typeof ProcessMetadata>;

/** How the child's environment is made from the server's. Patterns know `*` and `?` and ignore case. */
export const EnvPolicy = struct('ExecEnvPolicy', {
  inherit: oneOf(['core', 'all', 'none'], "Which of the server's variables to start from."),
  ignoreDefaultExcludes: flag('Keep names that contain KEY, SECRET or TOKEN.'),
  exclude: list(text(), 'Patterns of names to drop.'),
  set: map(text(), 'Variables to add after that.'),
  includeOnly: list(text(), 'If not empty, patterns of the only names to keep, added ones included.'),
});
export type EnvPolicy = z.output<typeof EnvPolicy>;

/** Runs a login shell's script with the state that the login shell had when it was first asked for. */
export const ShellSnapshot = struct('ShellSnapshotRequest', {
  scopeId: text('Names the captured state; 1 to 256 bytes.'),
  shell: describe(ShellInfo, 'The shell: `bash`, `zsh` or `sh`.'),
});
export type ShellSnapshot = z.output<typeof ShellSnapshot>;

/** Size of a terminal in characters. */
export const TerminalSize = struct('TerminalSize', {
  rows: integer('u16', 'Rows, at least 1.'),
  cols: integer('u16', 'Columns, at least 1.'),
});
export type TerminalSize = z.output<typeof TerminalSize>;

/** Members of `process/start` that the reference does not know. Each has a capability. */
export const startExtensions = {
  size: nullable(describe(TerminalSize, 'Size of the terminal. Needs `tty`. Default: 24 rows, 80 columns.')),
  timeoutMs: nullable(
    integer('u64', 'Ends the process and everything it started after so many milliseconds. Default: never.'),
  ),
  graceMs: nullable(
    integer(
      'u64',
      'What the timeout leaves between SIGTERM and SIGKILL, in milliseconds. Default: 0, SIGKILL at once.',
    ),
  ),
  outputBytesCap: nullable(
    integer(
      'usize',
      "Newest bytes of output retained, exact to an eighth, the heads of a snapshot included; can only lower the server's own limit.",
    ),
  ),
  spill: defaulted(
    flag(
      "Write the whole output, all streams as they came, to a file in the server's spill directory too. Default: false.",
    ),
  ),
  traceEnv: defaulted(
    flag(
      "Tell the child the request's trace context, or that of the server's span for it, as `TRACEPARENT` and `TRACESTATE`. Default: false.",
    ),
  ),
  tags: nullable(map(text(), 'Words to find the process by in `process/list`.')),
  keepAliveMs: nullable(
    integer(
      'u64',
      'How long the process may outlive its session, in milliseconds. Default: 0, it ends with it.',
    ),
  ),
  startKey: nullable(
    text(
      'Starts it once: a start with a key that a process of the same principal has answers with that process, whichever session it is in, and starts nothing. The key is free again when the process is forgotten.',
    ),
  ),
};

export const ProcessStartParams = struct(
  'WireExecParams',
  {
    processId: text('Key of the process, chosen by the client, unique in its session.'),
    metadata: nullable(describe(ProcessMetadata, 'Who started it.')),
    argv: list(text(), 'Program and arguments; at least one.'),
    cwd: pathUri('Working directory.'),
    envPolicy: nullable(
      describe(EnvPolicy, "How to start from the server's environment; without it `env` is all there is."),
    ),
    shellSnapshot: nullable(describe(ShellSnapshot, 'Restores the state of a login shell first.')),
    env: map(text(), 'Variables that win over everything else.'),
    tty: flag('Run on a pseudo terminal instead of pipes.'),
    pipeStdin: defaulted(flag('Keep stdin open for `process/write`; otherwise it is empty. Default: false.')),
    arg0: nullable(text('What the program sees as `argv[0]`.')),
    sandbox: nullable(describe(SandboxContext, 'What the process may touch.')),
    enforceManagedNetwork: defaulted(
      flag('Allow no network but the managed one. Needs `sandbox`. Default: false.'),
    ),
    managedNetwork: nullable(describe(ManagedNetwork, 'A proxy that already runs.')),
    networkProxy: nullable(describe(NetworkProxyLaunch, 'A proxy to start for this process.')),
  },
  { extensions: startExtensions },
);
export type ProcessStartParams = z.output<typeof ProcessStartParams>;

export const ProcessStartResult = struct(
  'ExecResponse',
  {
    processId: text('The key, as given.'),
    sandboxType: defaulted(
      oneOf(
        ['none', 'macosSeatbelt', 'linuxSeccomp', 'windowsRestrictedToken'],
        'What the process is confined by. Older servers leave it out.',
      ),
    ),
  },
  {
    extensions: {
      pid: defaulted(integer('u32', 'Process id on the host.')),
      existing: nullable(flag('True for the process that has the start key already.')),
      sessionId: nullable(text("The session of that process, where it is not the caller's own.")),
    },
  },
);
export type ProcessStartResult = z.output<typeof ProcessStartResult>;

/** Names a process of another session of the same principal, to which the caller is attached. */
const sessionId = nullable(text("The session it belongs to. Default: the caller's own."));

/** How a process ended, beyond its exit code. */
const exitExtensions = {
  signal: nullable(text('Name of the signal that ended it, such as `SIGKILL`.')),
  timedOut: defaulted(flag('It was ended because its `timeoutMs` had passed. Default: false.')),
};

/** Whose event it is, for connections that see more than their own session. */
const eventSessionId = nullable(text('The session it belongs to, when it is told to a viewer.'));

const seq = integer('u64', 'Number of the event; each process counts its events from 1 without gaps.');
const stream = oneOf(['stdout', 'stderr', 'pty'], 'Where the bytes came out.');

export const ProcessReadParams = struct(
  'ReadParams',
  {
    processId: text('The process.'),
    afterSeq: nullable(integer('u64', 'Return only output with a greater `seq`. Default: 0.')),
    maxBytes: nullable(
      integer('usize', 'Stop after so many bytes; at least one chunk is returned. Default: no limit.'),
    ),
    waitMs: nullable(integer('u64', 'Wait so many milliseconds for something new. Default: 0.')),
  },
  { extensions: { sessionId } },
);
export type ProcessReadParams = z.output<typeof ProcessReadParams>;

export const ReadChunk = struct('ProcessOutputChunk', { seq, stream, chunk: base64('The bytes.') });
export type ReadChunk = z.output<typeof ReadChunk>;

export const ProcessReadResult = struct(
  'ReadResponse',
  {
    chunks: list(ReadChunk, 'Retained output, oldest first.'),
    nextSeq: integer('u64', 'Read on with `afterSeq` one less than this.'),
    exited: flag('The program has ended.'),
    exitCode: describe(z.nullable(integer('i32')), 'Exit code, once it has ended; 128+n for signal n.'),
    closed: flag('The program has ended and its output is complete.'),
    failure: describe(z.nullable(text()), 'Filled in by clients that lost the process; null from a server.'),
    sandboxDenied: defaulted(flag('It failed because the sandbox denied something. Default: false.')),
  },
  { extensions: exitExtensions },
);
export type ProcessReadResult = z.output<typeof ProcessReadResult>;

export const ProcessWriteParams = struct(
  'WriteParams',
  {
    processId: text('The process.'),
    chunk: base64('The bytes.'),
    writeId: defaulted(
      text(
        'Makes the write idempotent; not empty. Without it, as older clients write, a repeat writes again.',
      ),
    ),
  },
  {
    extensions: {
      sessionId,
      closeStdin: defaulted(flag('Close stdin behind these bytes, as `process/closeStdin` does.')),
    },
  },
);
export type ProcessWriteParams = z.output<typeof ProcessWriteParams>;

export const ProcessWriteResult = struct('WriteResponse', {
  status: oneOf(
    ['accepted', 'unknownProcess', 'stdinClosed', 'starting'],
    'What became of the bytes; `accepted` means queued.',
  ),
});
export type ProcessWriteResult = z.output<typeof ProcessWriteResult>;

/** Signals of POSIX.1-2024, and the two that it has dropped: SIGPOLL and SIGPROF. Every system has them. */
export const SIGNAL_NAMES = [
  'SIGABRT',
  'SIGALRM',
  'SIGBUS',
  'SIGCHLD',
  'SIGCONT',
  'SIGFPE',
  'SIGHUP',
  'SIGILL',
  'SIGINT',
  'SIGKILL',
  'SIGPIPE',
  'SIGPOLL',
  'SIGPROF',
  'SIGQUIT',
  'SIGSEGV',
  'SIGSTOP',
  'SIGSYS',
  'SIGTERM',
  'SIGTRAP',
  'SIGTSTP',
  'SIGTTIN',
  'SIGTTOU',
  'SIGURG',
  'SIGUSR1',
  'SIGUSR2',
  'SIGVTALRM',
  'SIGWINCH',
  'SIGXCPU',
  'SIGXFSZ',
] as const;
export type SignalName = (typeof SIGNAL_NAMES)[number];

export const ProcessSignalParams = struct(
  'SignalParams',
  {
    processId: text('The process.'),
    signal: oneOf(
      ['interrupt', ...SIGNAL_NAMES],
      'The signal, sent to the whole process group: `interrupt`, or the POSIX name of any.',
    ),
  },
  { extensions: { sessionId } },
);
export type ProcessSignalParams = z.output<typeof ProcessSignalParams>;

export const ProcessSignalResult = struct('SignalResponse', {});
export type ProcessSignalResult = z.output<typeof ProcessSignalResult>;

/** A signal that can be answered first, and SIGKILL for what is left after a while. */
export const GracefulEnd = struct('GracefulEnd', {
  timeoutMs: integer('u64', 'What lies between the two, in milliseconds.'),
  signal: nullable(oneOf([...SIGNAL_NAMES], 'The first of the two. Default: `SIGTERM`.'), {
    omittable: true,
  }),
});
export type GracefulEnd = z.output<typeof GracefulEnd>;

/** Names the member and what it may be; of the two problems, that of the form which was meant. */
function describeModeProblem(issue: z.core.$ZodRawIssue): string {
  const { input, errors } = issue as { input?: unknown; errors?: readonly (readonly z.core.$ZodIssue[])[] };
  const [problem] = errors?.[typeof input === 'string' ? 0 : 1] ?? [];
  const detail = problem === undefined ? '' : `${problem.message}; `;
  return `invalid \`mode\`: ${detail}it is "force" or {"graceful":{"timeoutMs":MILLISECONDS,"signal":NAME}}`;
}

export const ProcessTerminateParams = struct(
  'TerminateParams',
  { processId: text('The process.') },
  {
    extensions: {
      sessionId,
      mode: nullable(
        z.union(
          [
            oneOf(['force'], 'SIGKILL at once, the default.'),
            struct('TerminateMode', { graceful: describe(GracefulEnd, 'Let it end by itself first.') }),
          ],
          { error: describeModeProblem },
        ),
      ),
      wait: defaulted(
        flag('Answer only when nobody of those who were signalled runs any more. Default: false.'),
      ),
      leftovers: defaulted(
        flag('Also kill what a process that has ended left running. Default: false, it is let be.'),
      ),
    },
  },
);
export type ProcessTerminateParams = z.output<typeof ProcessTerminateParams>;

export const ProcessTerminateResult = struct(
  'TerminateResponse',
  {
    running: flag('It was running and has been killed.'),
  },
  {
    extensions: {
      pids: defaulted(list(integer('u32'), 'Who was signalled: the process and everything it started.')),
    },
  },
);
export type ProcessTerminateResult = z.output<typeof ProcessTerminateResult>;

export const ProcessOutputNotification = struct(
  'ExecOutputDeltaNotification',
  {
    processId: text('The process.'),
    seq,
    stream,
    chunk: base64('The bytes, at most 1 MiB.'),
  },
  { extensions: { sessionId: eventSessionId } },
);
export type ProcessOutputNotification = z.output<typeof ProcessOutputNotification>;

export const ProcessExitedNotification = struct(
  'ExecExitedNotification',
  {
    processId: text('The process.'),
    seq,
    exitCode: integer('i32', 'Exit code; 128+n for signal n.'),
    sandboxDenied: defaulted(flag('It failed because the sandbox denied something. Default: false.')),
  },
  { extensions: { ...exitExtensions, sessionId: eventSessionId } },
);
export type ProcessExitedNotification = z.output<typeof ProcessExitedNotification>;

export const ProcessStartedNotification = struct('StartedNotification', {
  processId: text('The process.'),
  pid: integer('u32', 'Process id on the host.'),
});
export type ProcessStartedNotification = z.output<typeof ProcessStartedNotification>;

export const ProcessFailedNotification = struct('FailedNotification', {
  processId: text('The key that the process was to have.'),
  processIdFree: defaulted(
    flag('Whether the key is free for another start. It is not when it belongs to another process.'),
  ),
  requestId: nullable(
    z.union([
      text(
        'The id of the request, which has the error as its response. Left out when another connection sent it.',
      ),
      integer('i64'),
    ]),
    { omittable: true },
  ),
  message: text('Why it was not started, as the error response says it.'),
});
export type ProcessFailedNotification = z.output<typeof ProcessFailedNotification>;

export const ProcessClosedNotification = struct(
  'ExecClosedNotification',
  {
    processId: text('The process.'),
    seq,
  },
  { extensions: { sessionId: eventSessionId } },
);
export type ProcessClosedNotification = z.output<typeof ProcessClosedNotification>;
