import { resizeRun, terminateRun, writeToRun } from './control.js';
import { defineMethod } from './define-method.js';
import { spawnProcess } from './process-spawn.js';
import { ProcessRuns } from './runs.js';

const nameProcess = ({ processHandle }: { readonly processHandle: string }) =>
  `process/spawn ${processHandle}`;
const follows = nameProcess;

export const PROCESS_METHODS = [
  defineMethod('process/spawn', spawnProcess, { opens: nameProcess, files: () => 'reads' }),
  defineMethod(
    'process/writeStdin',
    (params, context) =>
      writeToRun(context.connection.keep(ProcessRuns), params.processHandle, params, context),
    { follows },
  ),
  defineMethod(
    'process/resizePty',
    ({ processHandle, size }, context) =>
      resizeRun(context.connection.keep(ProcessRuns), processHandle, size, context),
    { follows },
  ),
  defineMethod(
    'process/kill',
    ({ processHandle }, context) =>
      terminateRun(context.connection.keep(ProcessRuns), processHandle, context),
    { follows },
  ),
];
