import { expect, it } from 'vitest';
import { decodeResult, EnvironmentInfo, EnvironmentStatusResult } from '../../src/index.js';

const shell = { name: 'bash', path: '/bin/bash' };

it('tolerates a server that tells only its shell', () => {
  expect(decodeResult(EnvironmentInfo, { shell })).toEqual({ shell });
  expect(
    decodeResult(EnvironmentInfo, { shell, cwd: null, capabilities: { fsWatchMissing: true, newer: 1 } }),
  ).toEqual({
    shell,
    capabilities: { fsWatchMissing: true },
  });
  expect(decodeResult(EnvironmentStatusResult, { status: 'ready' })).toEqual({ status: 'ready' });
});
