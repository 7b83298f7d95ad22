import { expect, it } from 'vitest';
import {
  ErrorCode,
  internalError,
  invalidParams,
  invalidRequest,
  methodNotFound,
  notFound,
  RpcError,
} from '../src/index.js';

it('pins the codes', () => {
  expect(ErrorCode).toEqual({
    invalidRequest: -32600,
    methodNotFound: -32601,
    invalidParams: -32602,
    internalError: -32603,
    notFound: -32004,
    sessionAttached: -32010,
    overloaded: -32001,
    transportClosed: -32000,
  });
});

it.each([
  [invalidRequest('m'), -32600, 'm'],
  [invalidParams('m'), -32602, 'm'],
  [internalError('m'), -32603, 'm'],
  [notFound('m'), -32004, 'm'],
  [methodNotFound('x/y'), -32601, 'exec-server stub does not implement `x/y` yet'],
])('%s', (error, code, message) => {
  expect(error).toBeInstanceOf(RpcError);
  expect(error).toMatchObject({ name: 'RpcError', code, message });
  expect('data' in error && error.data !== undefined).toBe(false);
});

it('carries data over the wire and keeps the cause here', () => {
  const cause = new Error('why');
  const error = new RpcError(-1, 'm', { data: { a: 1 }, cause });
  expect(error.data).toEqual({ a: 1 });
  expect(error.cause).toBe(cause);
  expect(new RpcError(-1, 'm')).not.toHaveProperty('cause');
});
