import { expect, it } from 'vitest';
import { encodePlan, listWords } from '../../../src/sandbox/program/plan.js';
import { describeFailure, parseStatus } from '../../../src/sandbox/program/status.js';

it('writes words with a zero behind each', () => {
  expect(encodePlan(['bind', Buffer.from('/ä'), 7, '', ...listWords(['x'])]).toString()).toBe(
    'bind\0/ä\x007\0\x001\0x\0',
  );
  expect(encodePlan([])).toHaveLength(0);
});

it.each([
  ['text', 'a\0bind'],
  ['bytes', Buffer.from('/a\0bind')],
])('refuses a zero inside of a word, behind which a step would begin: %s', (_kind, word) => {
  expect(() => encodePlan(['chdir', word])).toThrow(expect.objectContaining({ name: 'OsError', errno: 22 }));
});

it('reads what the program says', () => {
  const parse = (...words: string[]) => parseStatus(Buffer.from(words.map((word) => `${word}\0`).join('')));
  const nothing = { entered: false, failure: undefined, landlockAbi: undefined };
  expect(parse()).toEqual(nothing);
  expect(parse('entered')).toEqual({ ...nothing, entered: true });
  const failure = { step: 'chdir', errno: 2, word: '/no/such' };
  expect(parse('entered', 'failed', 'chdir', '2', '/no/such')).toEqual({
    ...nothing,
    entered: true,
    failure,
  });
  expect(parse('failed', 'pivot', '1', '').failure).toEqual({ step: 'pivot', errno: 1, word: '' });
  expect(parse('entered', 'exec', '8').failure).toEqual({ step: 'exec', errno: 8, word: '' });
  expect(parse('landlock-abi', '7')).toEqual({ ...nothing, landlockAbi: 7 });
  // A path may be called like a word.
  expect(parse('failed', 'chdir', '2', 'entered').entered).toBe(false);
  expect(describeFailure(failure)).toBe('chdir /no/such: No such file or directory (os error 2)');
  expect(describeFailure({ ...failure, word: '' })).toBe('chdir: No such file or directory (os error 2)');
});
