import { afterEach, describe, expect, it, vi } from 'vitest';
import { runBriefly, runBrieflyAside } from '../../src/native/run-briefly.js';

afterEach(() => vi.unstubAllEnvs());

describe.each([
  ['on the loop', runBriefly],
  ['beside the loop', runBrieflyAside],
])('%s', (_name, run) => {
  it('tells what a program says and how it ends, without the environment of this process', async () => {
    vi.stubEnv('OF_THE_SERVER', 'x');
    const script = 'echo out; echo "err $OF_THE_SERVER" >&2; cat; exit 3';
    expect(await run('/bin/sh', ['-c', script], 10_000)).toEqual({
      status: 3,
      stdout: 'out\n',
      stderr: 'err \n',
    });
  });

  it('knows no status of one that did not start or took too long', async () => {
    expect(await run('/no/such', [], 10_000)).toEqual({ status: null, stdout: '', stderr: '' });
    expect((await run('/bin/sleep', ['1000'], 1)).status).toBeNull();
  });
});
