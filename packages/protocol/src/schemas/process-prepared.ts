import type * as z from 'zod/mini';
import { flag, list, map, pathUri, text } from '../fields.js';
import { defaulted, struct } from '../struct.js';
import { ProcessStartResult, startExtensions } from './process.js';

/** A command that the client has resolved; the server looks up, adds and expands nothing. */
export const ProcessStartPreparedParams = struct(
  'StartPreparedParams',
  {
    processId: text('Key of the process, chosen by the client, unique in its session.'),
    program: text('Native absolute path of the file to execute.'),
    argv: list(text(), 'The whole argv, `argv[0]` included; at least one.'),
    cwd: pathUri('Working directory.'),
    env: map(text(), "The whole environment; only the server's own credentials are taken out of it."),
    tty: flag('Run on a pseudo terminal instead of pipes.'),
    pipeStdin: defaulted(flag('Keep stdin open for `process/write`; otherwise it is empty. Default: false.')),
  },
  { extensions: startExtensions },
);
export type ProcessStartPreparedParams = z.output<typeof ProcessStartPreparedParams>;

export const ProcessStartPreparedResult = ProcessStartResult;
export type ProcessStartPreparedResult = z.output<typeof ProcessStartPreparedResult>;
