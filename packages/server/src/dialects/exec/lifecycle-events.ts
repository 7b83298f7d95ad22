import { formatRequestId, RpcError } from '@exec-server/protocol';
import type { LifecycleEvent } from '../../sessions/session.js';
import type { ConnectionScope, HandlerContext } from '../dialect.js';

/** Starts a process, and tells the client that has the session if that fails, before the response does. */
export async function tellFailure<Result>(
  { processId }: { readonly processId: string },
  { engine, session, requestId: id, connection }: HandlerContext,
  start: () => Promise<Result>,
): Promise<Result> {
  try {
    return await start();
  } catch (error) {
    if (error instanceof RpcError) {
      const processIdFree = engine.registry.find(session.id, processId) === undefined;
      const request = { id, connection };
      session.announce({ kind: 'failed', processId, processIdFree, request, message: error.message });
    }
    throw error;
  }
}

/** Tells a client what became of a start, beside the response to whoever asked for it. */
export function notifyLifecycle(connection: ConnectionScope, { kind, ...event }: LifecycleEvent): void {
  if (!('request' in event)) {
    connection.notify(`process/${kind}`, event);
    return;
  }
  const { request, ...params } = event;
  if (request.connection !== connection) {
    connection.notify(`process/${kind}`, params);
    return;
  }
  // An id of 64 bits has more digits than a number of JavaScript keeps.
  const members = `"requestId":${formatRequestId(request.id)},${JSON.stringify(params).slice(1)}`;
  connection.sendBytes(Buffer.from(`{"method":"process/${kind}","params":{${members}}\n`));
}
