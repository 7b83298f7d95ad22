import * as z from 'zod/mini';
import { base64, describe, flag, list, map, text } from '../fields.js';
import { defaulted, nullable, struct } from '../struct.js';
import { OutputStreamName } from './command.js';
import { absolutePath, integer } from './fields.js';

export const ProcessTerminalSize = struct('ProcessTerminalSize', {
  rows: integer('u16', 'Rows of characters, at least 1.'),
  cols: integer('u16', 'Columns of characters, at least 1.'),
});

const processHandle = text("The client's own name for the process, unique on its connection while it runs.");

export const ProcessSpawnParams = struct('ProcessSpawnParams', {
  command: list(text(), 'Program and arguments; the program is looked for on the PATH of the child.'),
  processHandle,
  cwd: absolutePath('Working directory.'),
  tty: defaulted(flag('Run on a terminal, which streams both ways. Default: false.')),
  streamStdin: defaulted(flag('Keep stdin open for `process/writeStdin`. Default: false.')),
  streamStdoutStderr: defaulted(flag('Send output as it comes, and not at the end. Default: false.')),
  outputBytesCap: defaulted(
    z.nullable(integer('usize', 'Bytes of each stream that are kept or sent; `null`: all. Default: 1 MiB.')),
  ),
  timeoutMs: defaulted(
    z.nullable(integer('i64', 'How long it may run; `null`: as long as it takes. Default: 10,000.')),
  ),
  env: nullable(map(z.nullable(text()), "Laid over the server's environment; `null` removes a variable.")),
  size: nullable(describe(ProcessTerminalSize, 'Size of the terminal. Default: 24 rows, 80 columns.')),
});
export type ProcessSpawnParams = z.output<typeof ProcessSpawnParams>;

export const ProcessWriteStdinParams = struct('ProcessWriteStdinParams', {
  processHandle,
  deltaBase64: nullable(text('Bytes to write, as base64.')),
  closeStdin: defaulted(flag('End the input behind them. Default: false.')),
});
export type ProcessWriteStdinParams = z.output<typeof ProcessWriteStdinParams>;

export const ProcessResizePtyParams = struct('ProcessResizePtyParams', {
  processHandle,
  size: describe(ProcessTerminalSize, 'Its new size.'),
});
export type ProcessResizePtyParams = z.output<typeof ProcessResizePtyParams>;

export const ProcessKillParams = struct('ProcessKillParams', { processHandle });
export type ProcessKillParams = z.output<typeof ProcessKillParams>;

export const ProcessOutputDeltaNotification = struct('ProcessOutputDeltaNotification', {
  processHandle,
  stream: OutputStreamName,
  deltaBase64: base64('What was written.'),
  capReached: flag('Nothing more of this stream will be sent.'),
});
export type ProcessOutputDeltaNotification = z.output<typeof ProcessOutputDeltaNotification>;

export const ProcessExitedNotification = struct('ProcessExitedNotification', {
  processHandle,
  exitCode: integer(
    'i32',
    "The program's own code, 128 + n after signal n, 124 when its time was up, −1 if unknown.",
  ),
  outputDrainTimedOut: flag('Somebody held a stream open for longer than was waited for its end.'),
  stdout: text('What it wrote, up to the cap; empty when streamed.'),
  stdoutCapReached: flag('The cap of stdout was reached; there may have been more.'),
  stderr: text('The same of its other stream.'),
  stderrCapReached: flag('The cap of stderr was reached; there may have been more.'),
});
export type ProcessExitedNotification = z.output<typeof ProcessExitedNotification>;
