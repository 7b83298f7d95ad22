import { expect, it } from 'vitest';
import {
  decodeParams,
  decodeResult,
  HttpBodyDeltaNotification,
  HttpCancelParams,
  HttpCancelResult,
  HttpRequestParams,
  HttpRequestResult,
} from '../../src/index.js';
import { problemOf } from './problem-of.js';

const request = { method: 'GET', url: 'http://127.0.0.1/', requestId: 'r' };

it('takes nulls and both forms of a header', () => {
  const headers = [{ name: 'a', value: 'b', valueEnvVar: null }, ['c', 'd'], ['e', 'f', 'G']];
  expect(decodeParams(HttpRequestParams, { ...request, bodyBase64: null, timeoutMs: null, headers })).toEqual(
    {
      ...request,
      headers: [
        { name: 'a', value: 'b' },
        { name: 'c', value: 'd' },
        { name: 'e', value: 'f', valueEnvVar: 'G' },
      ],
    },
  );
  expect(decodeParams(HttpRequestParams, ['GET', 'u', [], null, 5, 'stop', 'r'])).toMatchObject({
    timeoutMs: 5,
  });
});

it.each([
  [{ ...request, headers: null }, 'invalid type: null, expected a sequence'],
  [{ ...request, headers: [{ name: 'a' }] }, 'missing field `value`'],
  [{ ...request, bodyBase64: 'bad' }, 'Invalid padding'],
  [{ ...request, redirectPolicy: 'bad' }, 'unknown variant `bad`, expected `follow` or `stop`'],
  [{ ...request, redirectPolicy: null }, 'invalid type: null, expected string or map'],
  [{ ...request, streamResponse: null }, 'invalid type: null, expected a boolean'],
  [{}, 'missing field `method`'],
  [['GET', 'u'], 'invalid length 6, expected struct HttpRequestParams with 8 elements'],
])('%j is refused', (params, problem) => {
  expect(problemOf(HttpRequestParams, params)).toBe(problem);
});

it('reads answers and deltas', () => {
  const result = { status: 200, headers: [{ name: 'a', value: 'b' }], bodyBase64: '' };
  expect(decodeResult(HttpRequestResult, result)).toEqual(result);
  const delta = { requestId: 'r', seq: 1, deltaBase64: '', done: true, error: null };
  expect(decodeResult(HttpBodyDeltaNotification, delta)).toEqual(delta);
});

it('reads what is to be cancelled', () => {
  expect(decodeParams(HttpCancelParams, { requestId: 'r' })).toEqual({ requestId: 'r' });
  expect(decodeParams(HttpCancelParams, ['r'])).toEqual({ requestId: 'r' });
  expect(problemOf(HttpCancelParams, {})).toBe('missing field `requestId`');
  expect(decodeResult(HttpCancelResult, { cancelled: true })).toEqual({ cancelled: true });
});
