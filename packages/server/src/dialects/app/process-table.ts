import { app } from '@exec-server/protocol';
import { resizeRun, terminateRun, writeToRun } from './control.js';
import { defineMethod } from './define-method.js';
import { spawnProcess } from './process-spawn.js';
import { ProcessRuns } from './runs.js';

const nameProcess = ({ processHandle }: { readonly processHandle: string }) =>
  `process/spawn ${processHandle}`;

export const PROCESS_METHODS = [
  defineMethod('process/spawn', app.ProcessSpawnParams, spawnProcess, {
    experimental: true,
    opens: nameProcess,
    files: () => 'reads',
  }),
  defineMethod(
    'process/writeStdin',
    app.ProcessWriteStdinParams,
    (params, context) =>
      writeToRun(context.connection.keep(ProcessRuns), params.processHandle, params, context),
    { experimental: true, follows: nameProcess },
  ),
  defineMethod(
    'process/resizePty',
    app.ProcessResizePtyParams,
    ({ processHandle, size }, context) =>
      resizeRun(context.connection.keep(ProcessRuns), processHandle, size, context),
    { experimental: true, lane: 'control', follows: nameProcess },
  ),
  defineMethod(
    'process/kill',
    app.ProcessKillParams,
    ({ processHandle }, context) =>
      terminateRun(context.connection.keep(ProcessRuns), processHandle, context),
    { experimental: true, lane: 'control', follows: nameProcess },
  ),
];
