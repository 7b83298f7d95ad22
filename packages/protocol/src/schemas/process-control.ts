import * as z from 'zod/mini';
import { base64, describe, flag, integer, list, map, oneOf, pathUri, text } from '../fields.js';
import { defaulted, nullable, struct } from '../struct.js';
import { ProcessWriteResult } from './process.js';

/** Which process, where it may be another session's. */
const target = {
  processId: text('The process.'),
  sessionId: nullable(text("The session it belongs to, of the same principal. Default: the caller's own."), {
    omittable: true,
  }),
};

export const ProcessCloseStdinParams = struct('CloseStdinParams', target);
export type ProcessCloseStdinParams = z.output<typeof ProcessCloseStdinParams>;

export const ProcessCloseStdinResult = ProcessWriteResult;
export type ProcessCloseStdinResult = z.output<typeof ProcessCloseStdinResult>;

export const ProcessResizeParams = struct('ResizeParams', {
  processId: text('The process.'),
  rows: integer('u16', 'Rows, at least 1.'),
  cols: integer('u16', 'Columns, at least 1.'),
  sessionId: target.sessionId,
});
export type ProcessResizeParams = z.output<typeof ProcessResizeParams>;

export const ProcessResizeResult = struct('ResizeResult', {});
export type ProcessResizeResult = z.output<typeof ProcessResizeResult>;

export const ProcessHoldParams = struct('HoldParams', {
  ...target,
  held: flag(
    'Whether the output of the process waits until it is released. It is released too when the session that holds it ends.',
  ),
});
export type ProcessHoldParams = z.output<typeof ProcessHoldParams>;

export const ProcessHoldResult = struct('HoldResult', {});
export type ProcessHoldResult = z.output<typeof ProcessHoldResult>;

export const ProcessWaitParams = struct('WaitParams', {
  processId: text('The process.'),
  timeoutMs: nullable(integer('u64', 'Wait at most so many milliseconds. Default: until it ends.'), {
    omittable: true,
  }),
  sessionId: target.sessionId,
});
export type ProcessWaitParams = z.output<typeof ProcessWaitParams>;

/** The file that the whole output of a process goes to. The server never removes it. */
export const SpillInfo = struct('SpillInfo', {
  path: pathUri('Where it is on the host.'),
  bytes: integer('u64', 'Bytes in it so far.'),
  truncated: flag("Output is missing at its end: the server's limit was reached, or writing failed."),
  complete: flag('Nothing more will be written to it.'),
  error: nullable(text('Why writing failed.')),
});
export type SpillInfo = z.output<typeof SpillInfo>;

export const SessionEndParams = struct('SessionEndParams', {});
export type SessionEndParams = z.output<typeof SessionEndParams>;

export const SessionEndResult = struct('SessionEndResult', {});
export type SessionEndResult = z.output<typeof SessionEndResult>;

export const ProcessRemoveParams = struct('RemoveParams', target);
export type ProcessRemoveParams = z.output<typeof ProcessRemoveParams>;

export const ProcessRemoveResult = struct('RemoveResult', {});
export type ProcessRemoveResult = z.output<typeof ProcessRemoveResult>;

/** What is known about the end of a process. */
const outcome = {
  running: flag('It has not ended yet.'),
  exitCode: describe(z.nullable(integer('i32')), 'Exit code, once it has ended; 128+n for signal n.'),
  signal: describe(z.nullable(text()), 'Name of the signal that ended it.'),
  timedOut: flag('It was ended because its `timeoutMs` had passed.'),
  closed: flag('It has ended and its output is complete.'),
  outputEvicted: nullable(
    flag('Output that would be retained is not: it made room for that of other closed processes.'),
  ),
  spill: nullable(
    describe(
      SpillInfo,
      'For a process with `spill`. `process/wait` on a closed process waits until it is complete.',
    ),
  ),
};

export const ProcessWaitResult = struct('WaitResult', outcome);
export type ProcessWaitResult = z.output<typeof ProcessWaitResult>;

export const ProcessSnapshotParams = struct('SnapshotParams', {
  processId: text('The process.'),
  screen: defaulted(flag("Also tell a terminal's present screen. Default: true.")),
  sessionId: target.sessionId,
});
export type ProcessSnapshotParams = z.output<typeof ProcessSnapshotParams>;

/** One stream in two pieces: how it began and how it goes on now. */
export const StreamSnapshot = struct('StreamSnapshot', {
  stream: oneOf(['stdout', 'stderr', 'pty'], 'Which one.'),
  head: base64('Its first bytes: at most 16 KiB, and a sixteenth of what is retained for all streams.'),
  tail: base64('Its newest bytes; they follow the head directly when nothing was dropped.'),
  droppedBytes: integer('u64', 'Bytes between the two that are no longer retained.'),
  totalBytes: integer('u64', 'Bytes it has had in all.'),
});
export type StreamSnapshot = z.output<typeof StreamSnapshot>;

/** A terminal's screen, made from the retained output. */
export const ScreenSnapshot = struct('ScreenSnapshot', {
  rows: integer('u16', 'Rows.'),
  cols: integer('u16', 'Columns.'),
  cursorRow: integer('u16', 'Row of the cursor, from 0.'),
  cursorCol: integer('u16', 'Column of the cursor, from 0.'),
  lines: list(text(), 'The text of every row, without trailing spaces.'),
  ansi: text('Paints the screen on an empty terminal of that size; asks the terminal nothing.'),
  exact: flag('Nothing was dropped before it, so that it is what the terminal shows.'),
});
export type ScreenSnapshot = z.output<typeof ScreenSnapshot>;

export const ProcessSnapshotResult = struct('SnapshotResult', {
  ...outcome,
  nextSeq: integer('u64', 'Number that the next event will get.'),
  streams: list(StreamSnapshot, 'stdout and stderr, or the terminal.'),
  screen: nullable(describe(ScreenSnapshot, 'For a terminal of at most 1,000,000 characters, if asked for.')),
});
export type ProcessSnapshotResult = z.output<typeof ProcessSnapshotResult>;

export const ProcessListParams = struct('ListParams', {
  tags: nullable(map(text(), 'Only processes that have all of these tags.'), { omittable: true }),
  scope: nullable(
    oneOf(
      ['session', 'all'],
      "The caller's session, or everything its principal may see. Default: `session`.",
    ),
    { omittable: true },
  ),
});
export type ProcessListParams = z.output<typeof ProcessListParams>;

export const ListedProcess = struct('ListedProcess', {
  processId: text('Key of the process in its session.'),
  sessionId: text('The session that started it.'),
  pid: integer('u32', 'Process id on the host.'),
  argv: list(text(), 'Program and arguments.'),
  cwd: text('Working directory, as a path URI.'),
  tty: flag('It runs on a terminal.'),
  tags: map(text(), 'Its tags.'),
  startedAtMs: integer('u64', 'When it was started, in milliseconds since 1970.'),
  nextSeq: integer('u64', 'Number that the next event will get.'),
  ...outcome,
});
export type ListedProcess = z.output<typeof ListedProcess>;

export const ProcessListResult = struct('ListResult', {
  processes: list(ListedProcess, 'The processes, oldest first.'),
});
export type ProcessListResult = z.output<typeof ProcessListResult>;

export const ProcessAttachParams = struct('AttachParams', {
  ...target,
  afterSeq: nullable(
    integer('u64', 'Tell everything with a greater `seq`. Default: 0, all that is retained.'),
    {
      omittable: true,
    },
  ),
  mode: nullable(
    oneOf(['view', 'control'], 'Only watch, or also write, signal, resize and terminate. Default: `view`.'),
    { omittable: true },
  ),
});
export type ProcessAttachParams = z.output<typeof ProcessAttachParams>;

export const ProcessAttachResult = ListedProcess;
export type ProcessAttachResult = z.output<typeof ProcessAttachResult>;

export const ProcessDetachParams = struct('DetachParams', target);
export type ProcessDetachParams = z.output<typeof ProcessDetachParams>;

export const ProcessDetachResult = struct('DetachResult', {
  attached: flag('It was attached.'),
});
export type ProcessDetachResult = z.output<typeof ProcessDetachResult>;

export const ProcessLaggedNotification = struct('LaggedNotification', {
  processId: text('The process.'),
  sessionId: text('The session it belongs to.'),
  fromSeq: integer('u64', 'First event that was missed.'),
  toSeq: integer('u64', 'Last event that was missed.'),
});
export type ProcessLaggedNotification = z.output<typeof ProcessLaggedNotification>;

export const NetWaitForPortParams = struct('WaitForPortParams', {
  port: integer('u16', 'TCP port, at least 1.'),
  host: nullable(text('Where, as the server sees it. Default: `127.0.0.1`, then `::1`.'), {
    omittable: true,
  }),
  timeoutMs: integer('u64', 'Wait at most so many milliseconds.'),
});
export type NetWaitForPortParams = z.output<typeof NetWaitForPortParams>;

export const NetWaitForPortResult = struct('WaitForPortResult', {
  open: flag('Something accepted a connection.'),
});
export type NetWaitForPortResult = z.output<typeof NetWaitForPortResult>;
