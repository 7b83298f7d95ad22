import { app } from '@exec-server/protocol';
import type * as z from 'zod/mini';
import type { DialectMethod, HandlerContext } from '../dialect.js';
import type { AppMethod } from './conversation.js';

/** What a method may say of itself beside its params and what it does. */
interface MethodTraits<P> {
  /** @default 'ordinary' */
  readonly lane?: DialectMethod['lane'];
  /** Refused unless the client asked for `experimentalApi`. @default false */
  readonly experimental?: boolean;
  readonly opens?: (params: P) => string;
  readonly follows?: (params: P) => string;
  readonly files?: (params: P) => 'reads' | 'changes';
  /** @default false */
  readonly staysOpen?: boolean;
}

/** Makes a method of this dialect from the shape of its params and the function that answers it. */
export function defineMethod<S extends z.ZodMiniType>(
  name: string,
  params: S,
  handle: (params: z.output<S>, context: HandlerContext) => unknown,
  traits: MethodTraits<z.output<S>> = {},
): AppMethod {
  const { lane = 'ordinary', experimental = false, staysOpen = false, ...rest } = traits;
  return {
    name,
    family: 'app',
    lane,
    experimental,
    staysOpen,
    ...rest,
    decode: (value) => app.decodeParams(params, value),
    handle,
  };
}
