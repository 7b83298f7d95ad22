import { expect, it } from 'vitest';
import {
  decodeParams,
  decodeResult,
  EnvironmentConfigReadParams,
  EnvironmentConfigReadResult,
} from '../../src/index.js';
import { problemOf } from './problem-of.js';

const cwd = 'file:///tmp';

it('selects configuration', () => {
  const params = { cwd, configPaths: [['a', 'b']], requirementsPaths: [[]] };
  expect(decodeParams(EnvironmentConfigReadParams, params)).toEqual(params);
  expect(problemOf(EnvironmentConfigReadParams, { ...params, configPaths: null })).toBe(
    'invalid type: null, expected a sequence',
  );
  const stack = { layers: [{ source: 'user', baseDir: cwd, toml: 'a = 1\n' }], cloudInsertionIndex: 0 };
  const result = { userHomeDir: cwd, codexHomeDir: cwd, hostname: 'h', config: stack, requirements: stack };
  expect(decodeResult(EnvironmentConfigReadResult, result)).toEqual(result);
});
