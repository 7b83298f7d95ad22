import type { MethodName, ParamsOf } from '@exec-server/protocol';
import { defaultDirectory } from '../process/start-params.js';
import { type Sandbox, toConfinement } from '../sandbox.js';
import type { SessionClient } from '../session-client.js';
import { toPathUri } from './remote-path.js';

/** Calls about handles that were opened before, and about watches, which name no path that could be confined. */
const WITHOUT_CONTEXT: ReadonlySet<MethodName> = new Set<MethodName>([
  'fs/readBlock',
  'fs/writeBlock',
  'fs/close',
  'fs/unwatch',
]);

/** The same client, whose file operations may touch no more than a sandbox allows. */
export function confineFiles(
  client: SessionClient,
  sandbox: Sandbox,
  cwd: string | URL | undefined,
): SessionClient {
  const findContext = async () =>
    toConfinement(sandbox, cwd === undefined ? await defaultDirectory(client) : toPathUri(cwd)).sandbox;
  return {
    clientName: client.clientName,
    get sessionId() {
      return client.sessionId;
    },
    ready: (signal) => client.ready(signal),
    environment: () => client.environment(),
    supports: (capability) => client.supports(capability),
    call: async <M extends MethodName>(method: M, params: ParamsOf<M>, ...rest: [object?]) => {
      if (!method.startsWith('fs/') || WITHOUT_CONTEXT.has(method))
        return client.call(method, params, ...rest);
      return client.call(
        method,
        { ...(params as object), sandbox: await findContext() } as ParamsOf<M>,
        ...rest,
      );
    },
    on: (name, listener) => client.on(name, listener),
    onLoss: (listener) => client.onLoss(listener),
    onOver: (listener) => client.onOver(listener),
    registerProcess: (processId, options) => client.registerProcess(processId, options),
    close: () => client.close(),
  };
}
