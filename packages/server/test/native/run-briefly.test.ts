import { expect, it, vi } from 'vitest';
import { runBriefly } from '../../src/native/run-briefly.js';

it('tells what a program says and how it ends, without the environment of this process', () => {
  vi.stubEnv('OF_THE_SERVER', 'x');
  const script = 'echo out; echo "err $OF_THE_SERVER" >&2; exit 3';
  expect(runBriefly('/bin/sh', ['-c', script], 10_000)).toEqual({
    status: 3,
    stdout: 'out\n',
    stderr: 'err \n',
  });
  vi.unstubAllEnvs();
});

it('knows no status of one that did not start or took too long', () => {
  expect(runBriefly('/no/such', [], 10_000)).toEqual({ status: null, stdout: '', stderr: '' });
  expect(runBriefly('/bin/sleep', ['1000'], 1).status).toBeNull();
});
