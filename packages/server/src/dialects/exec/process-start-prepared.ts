import type { ProcessStartPreparedParams, ProcessStartResult } from '@exec-server/protocol';
import * as engineStart from '../../process/start.js';
import type { HandlerContext } from '../dialect.js';
import { answerStart, toStartRequest } from './start-request.js';

export function startPreparedProcess(
  params: ProcessStartPreparedParams,
  { engine, session, trace }: HandlerContext,
): Promise<ProcessStartResult> {
  const { program, env } = params;
  const request = toStartRequest(params, { way: 'prepared', program, env }, trace);
  return answerStart(engineStart.startProcess(engine, session, request, {}));
}
