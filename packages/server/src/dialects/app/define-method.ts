import { app } from '@exec-server/protocol';
import type { FileAccess } from '../../connection/file-order.js';
import type { EncodedResponse, HandlerContext } from '../dialect.js';
import type { AppMethod } from './conversation.js';

/** A request that the dialect's table has a handler for. */
type Name = Exclude<app.MethodName, 'initialize'>;

type Answer<M extends Name> = app.ResultOf<M> | EncodedResponse;

/** What a method may say of itself beside what it does. */
interface MethodTraits<P> {
  readonly opens?: (params: P) => string;
  readonly follows?: (params: P) => string;
  readonly files?: (params: P) => FileAccess;
  /** @default false */
  readonly staysOpen?: boolean;
}

/** Makes a method of this dialect from its name and the function that answers it. */
export function defineMethod<M extends Name>(
  name: M,
  handle: (params: app.ParamsOf<M>, context: HandlerContext) => Answer<M> | Promise<Answer<M>>,
  traits: MethodTraits<app.ParamsOf<M>> = {},
): AppMethod {
  const { params, lane, experimental } = app.METHODS[name];
  return {
    name,
    family: 'app',
    lane: lane === 'control' ? 'control' : 'ordinary',
    experimental,
    ...traits,
    decode: (value) => app.decodeParams(params, value),
    handle,
  };
}
