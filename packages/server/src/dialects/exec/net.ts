import { invalidParams, type NetWaitForPortParams, type NetWaitForPortResult } from '@exec-server/protocol';
import { waitForOpenPort } from '../../net/wait-for-port.js';
import type { HandlerContext } from '../dialect.js';

export async function waitForPort(
  { port, host, timeoutMs }: NetWaitForPortParams,
  { engine: { clock }, signal, place }: HandlerContext,
): Promise<NetWaitForPortResult> {
  if (port === 0) throw invalidParams('port must be greater than 0');
  return { open: await place.park(waitForOpenPort({ port, host, timeoutMs, clock, signal })) };
}
