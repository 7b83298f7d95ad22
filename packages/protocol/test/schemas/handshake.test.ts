import { expect, it } from 'vitest';
import { decodeParams, decodeResult, InitializeParams, InitializeResult } from '../../src/index.js';
import { problemOf } from './problem-of.js';

it('initializes by name and by position', () => {
  expect(decodeParams(InitializeParams, { clientName: 'c', resumeSessionId: null })).toEqual({
    clientName: 'c',
  });
  expect(decodeParams(InitializeParams, ['c'])).toEqual({ clientName: 'c' });
  expect(decodeParams(InitializeParams, ['c', 's'])).toEqual({ clientName: 'c', resumeSessionId: 's' });
  expect(problemOf(InitializeParams, [])).toBe(
    'invalid length 0, expected struct InitializeParams with 2 elements',
  );
  expect(decodeResult(InitializeResult, { sessionId: 's' })).toEqual({ sessionId: 's' });
});

it('takes `binaryOutput` by name only, as a flag', () => {
  expect(decodeParams(InitializeParams, { clientName: 'c', binaryOutput: true })).toEqual({
    clientName: 'c',
    binaryOutput: true,
  });
  expect(problemOf(InitializeParams, { clientName: 'c', binaryOutput: 1 })).toBe(
    'invalid type: number, expected a boolean',
  );
  expect(problemOf(InitializeParams, ['c', null, true])).toBe(
    'invalid length 3, expected fewer elements in array',
  );
  expect(decodeResult(InitializeResult, { sessionId: 's', binaryOutput: true })).toEqual({
    sessionId: 's',
    binaryOutput: true,
  });
});
