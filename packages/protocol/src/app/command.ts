import * as z from 'zod/mini';
import { base64, describe, flag, list, map, oneOf, text } from '../fields.js';
import { defaulted, nullable, struct } from '../struct.js';
import { integer, nativePath } from './fields.js';
import { SandboxPolicy } from './sandbox-policy.js';

/** Bytes of each stream that are kept or sent when a request names no other number. */
export const DEFAULT_OUTPUT_BYTES_CAP = 1024 * 1024;

/** How long a process may run when a request names no other time, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 10_000;

export const CommandExecTerminalSize = struct('CommandExecTerminalSize', {
  rows: integer('u16', 'Rows of characters, at least 1.'),
  cols: integer('u16', 'Columns of characters, at least 1.'),
});

const processId = text("The client's own name for the command, unique on its connection while it runs.");

export const CommandExecParams = struct('CommandExecParams', {
  command: list(text(), 'Program and arguments; the program is looked for on the PATH of the child.'),
  processId: nullable(processId),
  tty: defaulted(flag('Run on a terminal, which streams both ways. Default: false.')),
  streamStdin: defaulted(flag('Keep stdin open for `command/exec/write`. Default: false.')),
  streamStdoutStderr: defaulted(flag('Send output as it comes, and not in the result. Default: false.')),
  outputBytesCap: nullable(integer('usize', 'Bytes of each stream that are kept or sent. Default: 1 MiB.')),
  disableOutputCap: defaulted(flag('Keep or send everything. Default: false.')),
  disableTimeout: defaulted(flag('Let it run for as long as it takes. Default: false.')),
  timeoutMs: nullable(integer('i64', 'How long it may run. Default: 10,000.')),
  cwd: nullable(nativePath("Working directory; relative ones count from the server's own, the default.")),
  env: nullable(map(z.nullable(text()), "Laid over the server's environment; `null` removes a variable.")),
  size: nullable(describe(CommandExecTerminalSize, 'Size of the terminal. Default: 24 rows, 80 columns.')),
  sandboxPolicy: nullable(describe(SandboxPolicy, 'What it may touch. Default: what the server may.')),
  permissionProfile: nullable(text('Name of a policy. Experimental.')),
});
export type CommandExecParams = z.output<typeof CommandExecParams>;

export const CommandExecResult = struct('CommandExecResponse', {
  exitCode: integer(
    'i32',
    "The program's own code, 128 + n after signal n, 124 when its time was up, −1 if unknown.",
  ),
  stdout: text('What it wrote, up to the cap; empty when streamed.'),
  stderr: text('The same of its other stream.'),
});
export type CommandExecResult = z.output<typeof CommandExecResult>;

export const CommandExecWriteParams = struct('CommandExecWriteParams', {
  processId,
  deltaBase64: nullable(text('Bytes to write, as base64.')),
  closeStdin: defaulted(flag('End the input behind them. Default: false.')),
});
export type CommandExecWriteParams = z.output<typeof CommandExecWriteParams>;

export const CommandExecResizeParams = struct('CommandExecResizeParams', {
  processId,
  size: describe(CommandExecTerminalSize, 'Its new size.'),
});
export type CommandExecResizeParams = z.output<typeof CommandExecResizeParams>;

export const CommandExecTerminateParams = struct('CommandExecTerminateParams', { processId });
export type CommandExecTerminateParams = z.output<typeof CommandExecTerminateParams>;

/** The streams of a process as this dialect names them. */
export const OutputStreamName = oneOf(
  ['stdout', 'stderr'],
  'Which stream; a terminal has one, which counts as stdout.',
);
export type OutputStreamName = z.output<typeof OutputStreamName>;

export const CommandExecOutputDeltaNotification = struct('CommandExecOutputDeltaNotification', {
  processId,
  stream: OutputStreamName,
  deltaBase64: base64('What was written.'),
  capReached: flag('Nothing more of this stream will be sent.'),
});
export type CommandExecOutputDeltaNotification = z.output<typeof CommandExecOutputDeltaNotification>;
