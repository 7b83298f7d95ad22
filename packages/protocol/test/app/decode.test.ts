import { describe, expect, it } from 'vitest';
import { app } from '../../src/index.js';

const failure = (decode: () => unknown): unknown => {
  try {
    return decode();
  } catch (error) {
    return error;
  }
};

describe('params of command/exec', () => {
  it.each([
    [{ command: 'ls' }, 'invalid type: string "ls", expected a sequence'],
    [{ command: [1] }, 'invalid type: integer `1`, expected a string'],
    [{ command: [-1.5] }, 'invalid type: floating point `-1.5`, expected a string'],
    [{}, 'missing field `command`'],
    [{ tty: 1 }, 'invalid type: integer `1`, expected a boolean'],
    [{ command: [], tty: null }, 'invalid type: null, expected a boolean'],
    [{ command: [], outputBytesCap: 1.5 }, 'invalid type: floating point `1.5`, expected usize'],
    [{ command: [], outputBytesCap: -1 }, 'invalid value: integer `-1`, expected usize'],
    [{ command: [], outputBytesCap: 1e30 }, 'invalid type: floating point `1e+30`, expected usize'],
    [{ command: [], timeoutMs: 'soon' }, 'invalid type: string "soon", expected i64'],
    [
      { command: [], timeoutMs: 9_300_000_000_000_000_000 },
      'invalid value: integer `9300000000000000000`, expected i64',
    ],
    [{ command: [], cwd: 5 }, 'invalid type: integer `5`, expected path string'],
    [{ command: [], env: { A: 1 } }, 'invalid type: integer `1`, expected a string'],
    [{ command: [], size: 5 }, 'invalid type: integer `5`, expected struct CommandExecTerminalSize'],
    [{ command: [], size: { rows: 65_536, cols: 1 } }, 'invalid value: integer `65536`, expected u16'],
    [{ command: [], size: { rows: 1 } }, 'missing field `cols`'],
    [
      { command: [], sandboxPolicy: { type: 'nope' } },
      'unknown variant `nope`, expected one of `dangerFullAccess`, `readOnly`, `externalSandbox`, `workspaceWrite`',
    ],
    [
      { command: [], sandboxPolicy: { type: 'workspaceWrite', writableRoots: ['relative'] } },
      'AbsolutePathBuf deserialized without a base path',
    ],
    [
      { command: [], sandboxPolicy: { type: 'externalSandbox', networkAccess: 'x' } },
      'unknown variant `x`, expected `restricted` or `enabled`',
    ],
    [5, 'invalid type: integer `5`, expected struct CommandExecParams'],
    [[], 'invalid length 0, expected struct CommandExecParams with 14 elements'],
  ])('%j are refused: %s', (params, detail) => {
    expect(failure(() => app.decodeParams(app.CommandExecParams, params))).toMatchObject({
      code: -32600,
      message: `Invalid request: ${detail}`,
    });
  });

  it.each([undefined, null])('that are %s are missing', (params) => {
    expect(failure(() => app.decodeParams(app.CommandExecParams, params))).toMatchObject({
      code: -32600,
      message: 'Invalid request: missing field `params`',
    });
  });

  it('may have members that nobody knows', () => {
    expect(app.decodeParams(app.CommandExecParams, { command: ['a'], other: 1 })).toEqual({ command: ['a'] });
  });

  it('may remove variables', () => {
    expect(app.decodeParams(app.CommandExecParams, { command: ['a'], env: { A: null } })).toEqual({
      command: ['a'],
      env: { A: null },
    });
  });
});

it('null is not the same as absent where it lifts a limit', () => {
  const params = { command: ['a'], processHandle: 'p', cwd: '/', outputBytesCap: null, timeoutMs: null };
  expect(app.decodeParams(app.ProcessSpawnParams, params)).toEqual(params);
});
