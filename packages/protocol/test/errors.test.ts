import { expect, it } from 'vitest';
import {
  ErrorCode,
  internalError,
  invalidParams,
  invalidRequest,
  methodNotFound,
  notFound,
  overloaded,
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
  [invalidRequest('m'), -32600, 'm', { code: 'invalid_request' }],
  [invalidRequest('m', 'process_unknown'), -32600, 'm', { code: 'process_unknown' }],
  [invalidParams('m'), -32602, 'm', { code: 'invalid_params' }],
  [internalError('m'), -32603, 'm', { code: 'internal_error' }],
  [internalError('m', 'os_error', { errno: 'EIO' }), -32603, 'm', { code: 'os_error', errno: 'EIO' }],
  [notFound('m', 'file_not_found'), -32004, 'm', { code: 'file_not_found' }],
  [overloaded('m'), -32001, 'm', { code: 'overloaded' }],
  [
    methodNotFound('x/y'),
    -32601,
    'exec-server stub does not implement `x/y` yet',
    { code: 'method_not_found' },
  ],
])('%s', (error, code, message, data) => {
  expect(error).toBeInstanceOf(RpcError);
  expect(error).toMatchObject({ name: 'RpcError', code, message });
  expect(error.data).toEqual(data);
});

it('carries data over the wire and keeps the cause here', () => {
  const cause = new Error('why');
  const error = new RpcError(-1, 'm', { data: { a: 1 }, cause });
  expect(error.data).toEqual({ a: 1 });
  expect(error.cause).toBe(cause);
  expect(new RpcError(-1, 'm')).not.toHaveProperty('cause');
});
