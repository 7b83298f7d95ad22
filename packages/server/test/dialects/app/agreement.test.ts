import { expect, it } from 'vitest';
import { Agreement } from '../../../src/dialects/app/agreement.js';

it('wants everything usual, and nothing experimental, of who asked for nothing', () => {
  const agreement = new Agreement();
  agreement.settle({});
  expect([agreement.experimentalApi, agreement.wants('a')]).toEqual([false, true]);
});

it('keeps to what was asked for', () => {
  const agreement = new Agreement();
  agreement.settle({ experimentalApi: true, optOutNotificationMethods: ['a', 'unknown'] });
  expect([agreement.experimentalApi, agreement.wants('a'), agreement.wants('ab')]).toEqual([
    true,
    false,
    true,
  ]);
  expect(agreement.encodeNotification('a', {})).toBeUndefined();
});

it('puts the time beside the params', () => {
  const agreement = new Agreement();
  const before = Date.now();
  const line = Buffer.from(agreement.encodeNotification('a', { b: 1 }) ?? '').toString();
  expect(line.endsWith('\n')).toBe(true);
  const message = JSON.parse(line) as { emittedAtMs: number };
  expect(message).toEqual({ method: 'a', params: { b: 1 }, emittedAtMs: expect.any(Number) });
  expect(message.emittedAtMs).toBeGreaterThanOrEqual(before);
});
