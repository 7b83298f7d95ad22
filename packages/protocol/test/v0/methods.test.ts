import { expect, expectTypeOf, it } from 'vitest';
import { decodeParams, v0 } from '../../src/index.js';
import { V0_PURPOSES } from '../../src/purposes.js';
import { problemOf } from '../schemas/problem-of.js';

it('pins the requests and the notifications', () => {
  expect(Object.keys(v0.METHODS)).toEqual(['command/exec', 'command/exec/write', 'command/exec/terminate']);
  expect(Object.keys(v0.SERVER_NOTIFICATIONS)).toEqual(['command/exec/outputDelta', 'command/exec/exited']);
  expectTypeOf<v0.ParamsOf<'command/exec'>>().toEqualTypeOf<v0.CommandExecParams>();
  expectTypeOf<v0.ResultOf<'command/exec'>>().toEqualTypeOf<v0.CommandExecResult>();
});

it('says what each is for', () => {
  const names = [...Object.keys(v0.METHODS), ...Object.keys(v0.SERVER_NOTIFICATIONS)];
  expect(Object.keys(V0_PURPOSES)).toEqual(names);
});

it('takes params by name and by position', () => {
  const params = { argv: ['a'], cwd: '/', env: { A: 'b' }, tty: false };
  expect(decodeParams(v0.CommandExecParams, { ...params, arg0: null, unknown: 1 })).toEqual(params);
  expect(decodeParams(v0.CommandExecParams, [['a'], '/', { A: 'b' }, false])).toEqual(params);
  expect(decodeParams(v0.CommandExecParams, { ...params, arg0: 'x' })).toEqual({ ...params, arg0: 'x' });
});

it.each([
  [v0.CommandExecParams, { argv: ['a'] }, 'missing field `cwd`'],
  [v0.CommandExecParams, { argv: 'a' }, 'invalid type: string "a", expected a sequence'],
  [
    v0.CommandExecParams,
    { argv: [], cwd: 'a', env: {}, tty: true },
    'AbsolutePathBuf deserialized without a base path',
  ],
  [v0.CommandExecWriteParams, [], 'invalid length 0, expected struct WriteParams with 2 elements'],
  [v0.CommandExecTerminateParams, [], 'invalid length 0, expected struct TerminateParams with 1 element'],
])('refuses what does not fit: %#', (schema, params, problem) => {
  expect(problemOf(schema, params)).toBe(problem);
});
