import { app } from '@exec-server/protocol';
import { execCommand } from './command-exec.js';
import { resizeRun, terminateRun, writeToRun } from './control.js';
import { defineMethod } from './define-method.js';
import { CommandRuns } from './runs.js';

const nameCommand = ({ processId }: { readonly processId?: string | null | undefined }) =>
  `command/exec ${JSON.stringify(processId ?? null)}`;

export const COMMAND_METHODS = [
  defineMethod('command/exec', app.CommandExecParams, execCommand, {
    opens: nameCommand,
    files: () => 'reads',
    staysOpen: true,
  }),
  defineMethod(
    'command/exec/write',
    app.CommandExecWriteParams,
    (params, context) => writeToRun(context.connection.keep(CommandRuns), params.processId, params, context),
    { follows: nameCommand },
  ),
  defineMethod(
    'command/exec/resize',
    app.CommandExecResizeParams,
    ({ processId, size }, context) =>
      resizeRun(context.connection.keep(CommandRuns), processId, size, context),
    { lane: 'control', follows: nameCommand },
  ),
  defineMethod(
    'command/exec/terminate',
    app.CommandExecTerminateParams,
    ({ processId }, context) => terminateRun(context.connection.keep(CommandRuns), processId, context),
    { lane: 'control', follows: nameCommand },
  ),
];
