import type * as z from 'zod/mini';
import { invalidRequest } from '../errors.js';
import { decode } from '../struct.js';
import { describeNumber } from './fields.js';

/**
 * Decodes the params of a request in the words of this dialect.
 *
 * @throws RpcError with code -32600
 */
export function decodeParams<S extends z.ZodMiniType>(schema: S, params: unknown): z.output<S> {
  if (params === undefined || params === null)
    throw invalidRequest('Invalid request: missing field `params`');
  return decode(schema, params, (detail, culprit) =>
    invalidRequest(`Invalid request: ${nameNumber(detail, culprit)}`),
  );
}

/** The fields say only that something is a number; this dialect says which. */
function nameNumber(detail: string, culprit: unknown): string {
  if (typeof culprit !== 'number') return detail;
  return detail.replace(/^invalid type: number,/, `invalid type: ${describeNumber(culprit)},`);
}
