import { describe, expect, test } from 'vitest';
import { parseMembers, readExecCommandArgs, readWriteStdinArgs } from '../../src/unified-exec/arguments.js';

const PREFIX = 'failed to parse function arguments: ';
const error = (problem: string) => expect.objectContaining({ code: 'usage', message: PREFIX + problem });

function catchError(call: () => unknown): unknown {
  try {
    return call();
  } catch (caught) {
    return caught;
  }
}

test('all arguments by the names that models use', () => {
  const command = { cmd: 'a', workdir: 'b', shell: 'c', login: true, tty: false };
  expect(readExecCommandArgs({ ...command, yield_time_ms: 1, max_output_tokens: 2 })).toEqual({
    ...command,
    yieldTimeMs: 1,
    maxOutputTokens: 2,
  });
  expect(readWriteStdinArgs({ session_id: 1, chars: 'x', yield_time_ms: 2, max_output_tokens: 3 })).toEqual({
    sessionId: 1,
    chars: 'x',
    yieldTimeMs: 2,
    maxOutputTokens: 3,
  });
});

test('what nobody knows is nobody’s business; null is as good as nothing for what has no default of its own', () => {
  const members = {
    cmd: 'a',
    justification: 'x',
    workdir: null,
    shell: null,
    login: null,
    max_output_tokens: null,
  };
  expect(readExecCommandArgs(members)).toEqual({ cmd: 'a' });
});

describe('exec_command', () => {
  test.each([
    [{}, 'missing field `cmd`'],
    [{ cmd: 5 }, 'invalid type: integer `5`, expected a string'],
    [{ cmd: null }, 'invalid type: null, expected a string'],
    [{ cmd: 'a', workdir: ['b'] }, 'invalid type: sequence, expected a string'],
    [{ cmd: 'a', tty: 'yes' }, 'invalid type: string "yes", expected a boolean'],
    [{ cmd: 'a', tty: null }, 'invalid type: null, expected a boolean'],
    [{ cmd: 'a', login: {} }, 'invalid type: map, expected a boolean'],
    [{ cmd: 'a', yield_time_ms: null }, 'invalid type: null, expected u64'],
    [{ cmd: 'a', yield_time_ms: true }, 'invalid type: boolean `true`, expected u64'],
    [{ cmd: 'a', yield_time_ms: 1.5 }, 'invalid type: floating point `1.5`, expected u64'],
    [{ cmd: 'a', yield_time_ms: -1 }, 'invalid value: integer `-1`, expected u64'],
    [{ cmd: 'a', max_output_tokens: -3 }, 'invalid value: integer `-3`, expected usize'],
  ])('%j', (members, problem) => {
    expect(catchError(() => readExecCommandArgs(members))).toEqual(error(problem));
  });
});

describe('write_stdin', () => {
  test.each([
    [{ chars: 'x' }, 'missing field `session_id`'],
    [{ session_id: 'a' }, 'invalid type: string "a", expected i32'],
    [{ session_id: 5.5 }, 'invalid type: floating point `5.5`, expected i32'],
    [{ session_id: 2 ** 31 }, 'invalid value: integer `2147483648`, expected i32'],
    [{ session_id: -(2 ** 31) - 1 }, 'invalid value: integer `-2147483649`, expected i32'],
    [{ session_id: 5, chars: null }, 'invalid type: null, expected a string'],
  ])('%j', (members, problem) => {
    expect(catchError(() => readWriteStdinArgs(members))).toEqual(error(problem));
  });

  test.each([2 ** 31 - 1, -(2 ** 31)])('session %i may exist', (session_id) => {
    expect(readWriteStdinArgs({ session_id })).toEqual({ sessionId: session_id });
  });
});

describe('JSON', () => {
  test('an object, as text or as it is', () => {
    expect(parseMembers('{"cmd":"a"}')).toEqual({ cmd: 'a' });
    expect(parseMembers({ cmd: 'a' })).toEqual({ cmd: 'a' });
  });

  test.each([
    ['[]', 'invalid type: sequence, expected an object'],
    ['"x"', 'invalid type: string "x", expected an object'],
    ['null', 'invalid type: null, expected an object'],
  ])('%s', (text, problem) => {
    expect(catchError(() => parseMembers(text))).toEqual(error(problem));
  });

  test('what is no JSON', () => {
    expect(() => parseMembers('{"cmd":')).toThrow(PREFIX);
  });
});
