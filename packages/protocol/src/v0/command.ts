import type * as z from 'zod/mini';
import { absolutePath } from '../app/fields.js';
import { base64, flag, integer, list, map, oneOf, text } from '../fields.js';
import { nullable, struct } from '../struct.js';

const sessionId = text('Id of the process, as `command/exec` answered it.');

export const CommandExecParams = struct('ExecParams', {
  argv: list(text(), 'Program and arguments; at least one.'),
  cwd: absolutePath('Working directory, as a native path.'),
  env: map(text(), 'The whole environment.'),
  tty: flag('Run on a pseudo terminal instead of pipes.'),
  arg0: nullable(text('What the program sees as `argv[0]`.'), { omittable: true }),
});
export type CommandExecParams = z.output<typeof CommandExecParams>;

export const CommandExecResult = struct('ExecResponse', {
  sessionId: text('Id of the process, unique on its connection: `session-1`, `session-2` and so on.'),
});
export type CommandExecResult = z.output<typeof CommandExecResult>;

export const CommandExecWriteParams = struct('WriteParams', {
  sessionId,
  chunk: base64('Bytes for its terminal; without one its stdin is closed.'),
});
export type CommandExecWriteParams = z.output<typeof CommandExecWriteParams>;

export const CommandExecWriteResult = struct('WriteResponse', {
  accepted: flag('The bytes are queued. Always true.'),
});
export type CommandExecWriteResult = z.output<typeof CommandExecWriteResult>;

export const CommandExecTerminateParams = struct('TerminateParams', { sessionId });
export type CommandExecTerminateParams = z.output<typeof CommandExecTerminateParams>;

export const CommandExecTerminateResult = struct('TerminateResponse', {
  running: flag('False when there is no such process or it had ended before.'),
});
export type CommandExecTerminateResult = z.output<typeof CommandExecTerminateResult>;

export const CommandExecOutputDeltaNotification = struct('ExecOutputDeltaNotification', {
  sessionId,
  stream: oneOf(['stdout', 'stderr'], 'Which stream; a terminal has one, which counts as stdout.'),
  chunk: base64('What was written.'),
});
export type CommandExecOutputDeltaNotification = z.output<typeof CommandExecOutputDeltaNotification>;

export const CommandExecExitedNotification = struct('ExecExitedNotification', {
  sessionId,
  exitCode: integer('i32', "The program's own code, 128 + n after signal n, −1 if unknown."),
});
export type CommandExecExitedNotification = z.output<typeof CommandExecExitedNotification>;
