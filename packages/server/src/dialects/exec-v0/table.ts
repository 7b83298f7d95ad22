import { decodeParams, v0 } from '@exec-server/protocol';
import type { SessionRegistry } from '../../sessions/session-registry.js';
import type { Dialect, DialectMethod, HandlerContext } from '../dialect.js';
import { startCommand } from './command-exec.js';
import { terminateCommand } from './command-exec-terminate.js';
import { writeToCommand } from './command-exec-write.js';
import { V0Conversation } from './conversation.js';

type Handlers = {
  readonly [M in v0.MethodName]: (
    params: v0.ParamsOf<M>,
    context: HandlerContext,
  ) => v0.ResultOf<M> | Promise<v0.ResultOf<M>>;
};

const HANDLERS: Handlers = {
  'command/exec': startCommand,
  'command/exec/write': writeToCommand,
  'command/exec/terminate': terminateCommand,
};

/** The oldest generation of the protocol, spoken on top of the `current` one: whoever calls nothing of it never notices. */
export function createExecV0Dialect(current: Dialect, sessions: SessionRegistry): Dialect {
  const methods = new Map(
    (Object.keys(HANDLERS) as v0.MethodName[]).map((name) => [name as string, describeMethod(name)]),
  );
  const services = { sessions, methods, own: new Set(methods.values()) };
  return { converse: (host) => new V0Conversation(host, current.converse(host), services) };
}

function describeMethod(name: v0.MethodName): DialectMethod {
  const { family, lane, params } = v0.METHODS[name];
  return {
    family,
    lane,
    files: name === 'command/exec' ? () => 'reads' : undefined,
    decode: (value) => decodeParams(params, value),
    // Which params belong to which handler is settled above.
    handle: HANDLERS[name],
  };
}
