import { describe, expect, it } from 'vitest';
import {
  decodeParams,
  decodeResult,
  ProcessExitedNotification,
  ProcessReadParams,
  ProcessReadResult,
  ProcessSignalParams,
  ProcessStartParams,
  ProcessStartResult,
  ProcessTerminateParams,
  ProcessWriteParams,
} from '../../src/index.js';
import { problemOf } from './problem-of.js';

const minimal = { processId: 'p', argv: ['/bin/true'], cwd: 'file:///tmp', env: {}, tty: false };
const policy = { inherit: 'all', ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] };

describe('process/start', () => {
  it('takes the least a client may send and what the reference client sends', () => {
    expect(decodeParams(ProcessStartParams, minimal)).toEqual(minimal);
    const nulls = { metadata: null, envPolicy: null, shellSnapshot: null, arg0: null, sandbox: null };
    const params = { ...minimal, ...nulls, managedNetwork: null, networkProxy: null, pipeStdin: true };
    expect(decodeParams(ProcessStartParams, params)).toEqual({ ...minimal, pipeStdin: true });
  });

  it('takes the positional form of 14 elements', () => {
    const params = [
      'p',
      null,
      ['/bin/true'],
      'file:///tmp',
      null,
      null,
      {},
      false,
      false,
      null,
      null,
      false,
      null,
      null,
    ];
    expect(decodeParams(ProcessStartParams, params)).toEqual({
      ...minimal,
      pipeStdin: false,
      enforceManagedNetwork: false,
    });
    const incomplete = params.slice(0, 8);
    expect(problemOf(ProcessStartParams, incomplete)).toBe(
      'invalid length 9, expected struct WireExecParams with 14 elements',
    );
  });

  it.each([
    [{ cwd: '/tmp' }, 'invalid URI: relative URL without a base'],
    [{ cwd: 'file:///tmp/%00' }, "'file:///tmp/%00' is invalid on 'linux'"],
    [{ cwd: 'file://host/x' }, undefined],
    [{ argv: [] }, undefined],
    [{ argv: null }, 'invalid type: null, expected a sequence'],
    [{ argv: ['a', 1] }, 'invalid type: number, expected a string'],
    [{ env: [] }, 'invalid type: sequence, expected a map'],
    [{ env: { A: null } }, 'invalid type: null, expected a string'],
    [{ tty: null }, 'invalid type: null, expected a boolean'],
    [{ pipeStdin: null }, 'invalid type: null, expected a boolean'],
    [{ enforceManagedNetwork: null }, 'invalid type: null, expected a boolean'],
    [{ envPolicy: policy }, undefined],
    [{ envPolicy: ['all', true, [], {}, []] }, undefined],
    [
      { envPolicy: { ...policy, inherit: 'str' } },
      'unknown variant `str`, expected one of `core`, `all`, `none`',
    ],
    [{ envPolicy: { inherit: 'all' } }, 'missing field `ignoreDefaultExcludes`'],
    [{ envPolicy: { ...policy, includeOnly: undefined } }, 'missing field `includeOnly`'],
    [{ shellSnapshot: { scopeId: 'x', shell: { name: 'bash' } } }, 'missing field `path`'],
    [{ metadata: { threadId: null, toolCallId: null } }, undefined],
    [{ metadata: { threadId: '6ba7b810-9dad-11d1-80b4' } }, 'invalid group count: expected 5, found 4'],
    [{ managedNetwork: { loopbackPorts: [65_536] } }, 'invalid number'],
    [{ managedNetwork: { loopbackPorts: null } }, 'invalid type: null, expected a sequence'],
    [{ managedNetwork: {} }, undefined],
    [{ networkProxy: {} }, 'missing field `proxy`'],
    [{ sandbox: {} }, 'missing field `permissions`'],
  ])('%j', (members, problem) => {
    expect(problemOf(ProcessStartParams, { ...minimal, ...members })).toBe(problem);
  });

  it('names the missing members in declaration order', () => {
    const names = ['processId', 'argv', 'cwd', 'env', 'tty'] as const;
    const params: Record<string, unknown> = {};
    for (const name of names) {
      expect(problemOf(ProcessStartParams, params)).toBe(`missing field \`${name}\``);
      params[name] = minimal[name];
    }
    expect(problemOf(ProcessStartParams, params)).toBeUndefined();
  });

  it('answers without a sandbox type from an older server', () => {
    expect(decodeResult(ProcessStartResult, { processId: 'p' })).toEqual({ processId: 'p' });
  });
});

describe('process/read', () => {
  it('takes null for every option and numbers of 64 bits', () => {
    const nulls = { processId: 'p', afterSeq: null, maxBytes: null, waitMs: null };
    expect(decodeParams(ProcessReadParams, nulls)).toEqual({ processId: 'p' });
    const [params] = JSON.parse('[{"processId":"p","waitMs":18446744073709551615}]') as [unknown];
    expect(problemOf(ProcessReadParams, params)).toBeUndefined();
  });

  it.each([
    [{ afterSeq: -1 }, 'invalid number'],
    [{ maxBytes: 'w' }, 'invalid type: string "w", expected usize'],
    [{ waitMs: [] }, 'invalid type: sequence, expected u64'],
  ])('%j', (members, problem) => {
    expect(problemOf(ProcessReadParams, { processId: 'p', ...members })).toBe(problem);
  });

  it('keeps the nulls of the answer', () => {
    const result = {
      chunks: [{ seq: 1, stream: 'stdout', chunk: 'QQ==' }],
      nextSeq: 2,
      exited: false,
      exitCode: null,
      closed: false,
      failure: null,
    };
    expect(decodeResult(ProcessReadResult, result)).toEqual(result);
  });
});

describe('process/write', () => {
  it.each([
    [{ chunk: '', writeId: '' }, undefined],
    [{ chunk: 'QQ==' }, undefined],
    [{ chunk: 'QQ==', writeId: null }, 'invalid type: null, expected a string'],
    [{ chunk: '!', writeId: 'w' }, 'Invalid symbol 33, offset 0.'],
    [{ chunk: 'QQ', writeId: 'w' }, 'Invalid padding'],
    [{ writeId: 'w' }, 'missing field `chunk`'],
  ])('%j', (members, problem) => {
    expect(problemOf(ProcessWriteParams, { processId: 'p', ...members })).toBe(problem);
  });
});

it.each([
  ['soft', 'unknown variant `soft`, expected `force`'],
  [5, 'invalid type: number, expected struct TerminateMode'],
  [{}, 'missing field `graceful`'],
  [{ graceful: { graceMs: 5 } }, 'missing field `timeoutMs`'],
  [{ graceful: { timeoutMs: 'x' } }, 'invalid type: string "x", expected u64'],
  [{ graceful: { timeoutMs: 5, signal: 'SIGWRONG' } }, expect.stringMatching(/^unknown variant `SIGWRONG`/)],
])('process/terminate names its mode when that is wrong: %j', (mode, detail) => {
  const [member, said, forms] = problemOf(ProcessTerminateParams, { processId: 'p', mode })!.split(
    /: (.*); (?=it is)/s,
  ) as [string, string, string];
  expect([member, said]).toEqual(['invalid `mode`', detail]);
  expect(forms).toBe('it is "force" or {"graceful":{"timeoutMs":MILLISECONDS,"signal":NAME}}');
});

it('process/terminate takes its modes', () => {
  for (const mode of [
    'force',
    { graceful: { timeoutMs: 5 } },
    { graceful: { timeoutMs: 5, signal: 'SIGINT' } },
  ])
    expect(decodeParams(ProcessTerminateParams, { processId: 'p', mode })).toMatchObject({ mode });
});

it('signals and terminates', () => {
  expect(problemOf(ProcessSignalParams, { processId: 'p', signal: 'interrupt' })).toBeUndefined();
  expect(problemOf(ProcessSignalParams, { processId: 'p', signal: 'SIGUSR2' })).toBeUndefined();
  expect(problemOf(ProcessSignalParams, { processId: 'p', signal: 'kill' })).toMatch(
    /^unknown variant `kill`, expected one of `interrupt`, `SIGABRT`, /,
  );
  expect(decodeParams(ProcessTerminateParams, ['zz'])).toEqual({ processId: 'zz' });
  expect(problemOf(ProcessTerminateParams, ['zz', 'y'])).toBe(
    'invalid length 2, expected fewer elements in array',
  );
});

it('takes the exit of an older server', () => {
  expect(decodeResult(ProcessExitedNotification, { processId: 'p', seq: 2, exitCode: 137 })).toEqual({
    processId: 'p',
    seq: 2,
    exitCode: 137,
  });
});

it('a variable that a plain object cannot hold is refused, not dropped', () => {
  const start = { processId: 'p', argv: ['x'], cwd: 'file:///', tty: false };
  const params = JSON.parse(`{"env":{"A":"1","__proto__":"x"}}`) as object;
  expect(() => decodeParams(ProcessStartParams, { ...start, ...params })).toThrow('invalid key `__proto__`');
});
