import { execCommand } from './command-exec.js';
import { resizeRun, terminateRun, writeToRun } from './control.js';
import { defineMethod } from './define-method.js';
import { CommandRuns } from './runs.js';

const nameCommand = ({ processId }: { readonly processId?: string | null | undefined }) =>
  `command/exec ${JSON.stringify(processId ?? null)}`;
const follows = nameCommand;

export const COMMAND_METHODS = [
  defineMethod('command/exec', execCommand, { opens: nameCommand, files: () => 'reads', staysOpen: true }),
  defineMethod(
    'command/exec/write',
    (params, context) => writeToRun(context.connection.keep(CommandRuns), params.processId, params, context),
    { follows },
  ),
  defineMethod(
    'command/exec/resize',
    ({ processId, size }, context) =>
      resizeRun(context.connection.keep(CommandRuns), processId, size, context),
    { follows },
  ),
  defineMethod(
    'command/exec/terminate',
    ({ processId }, context) => terminateRun(context.connection.keep(CommandRuns), processId, context),
    { follows },
  ),
];
