import type { ProcessHoldParams, ProcessHoldResult } from '@exec-server/protocol';
import type { HandlerContext } from '../dialect.js';
import { findTarget, unknownProcess } from './target.js';

/** Makes a process wait for its reader, or lets it go on. What has closed has nothing to wait with. */
export async function holdProcess(
  params: ProcessHoldParams,
  context: HandlerContext,
): Promise<ProcessHoldResult> {
  const process = await findTarget(params, context, 'control');
  if (process === undefined) throw unknownProcess(params, context);
  if (params.held) context.session.hold(process);
  else context.session.release(process);
  return {};
}
