import { expect, it } from 'vitest';
import { checkNode } from '../../src/doctor/check-host.js';

it.each([
  ['20.18.9', 'failed'],
  ['20.19.0', 'ok'],
  ['20.20.0', 'ok'],
  ['19.99.0', 'failed'],
  ['22.0.0', 'ok'],
])('Node %s: %s', (version, status) => {
  const check = checkNode(version);
  expect(check).toMatchObject({ name: 'node', status, finding: version });
  expect(check.advice).toBe(status === 'ok' ? undefined : 'Use Node 20.19 or newer.');
});
