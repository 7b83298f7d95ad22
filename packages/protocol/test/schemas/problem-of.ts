import { expect } from 'vitest';
import { decodeParams, ErrorCode, RpcError } from '../../src/index.js';

/** The text of the -32602 that params get, or nothing when they decode. */
export function problemOf(schema: Parameters<typeof decodeParams>[0], params: unknown): string | undefined {
  try {
    decodeParams(schema, params);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(RpcError);
    expect(error).toHaveProperty('code', ErrorCode.invalidParams);
    return (error as Error).message;
  }
}
