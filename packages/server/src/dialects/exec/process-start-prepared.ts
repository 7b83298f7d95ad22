import type { ProcessStartPreparedParams, ProcessStartResult } from '@exec-server/protocol';
import * as engineStart from '../../process/start.js';
import type { HandlerContext } from '../dialect.js';
import { tellFailure } from './lifecycle-events.js';
import { startOnce } from './start-once.js';
import { answerStart, toStartRequest } from './start-request.js';

export function startPreparedProcess(
  params: ProcessStartPreparedParams,
  context: HandlerContext,
): Promise<ProcessStartResult> {
  return tellFailure(params, context, () => {
    const { engine, session, trace } = context;
    const { program, env } = params;
    const request = toStartRequest(params, { way: 'prepared', program, env }, trace);
    return startOnce(params.startKey, context, () =>
      answerStart(engineStart.startProcess(engine, session, request, {})),
    );
  });
}
