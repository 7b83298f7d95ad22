import { expect, it } from 'vitest';
import { judgeLimits, parseLimits } from '../../src/doctor/check-limits.js';

const ENOUGH = { openFiles: 1024, processes: Number.POSITIVE_INFINITY };

it('reads soft limits', () => {
  const text = `Limit                     Soft Limit           Hard Limit           Units
Max processes             unlimited            unlimited            processes
Max open files            1024                 524288               files
`;
  expect(parseLimits(text)).toEqual({ openFiles: 1024, processes: Number.POSITIVE_INFINITY });
});

it.each([1023, 1024, 1025])('%d open files', (openFiles) => {
  const { status, advice } = judgeLimits({ ...ENOUGH, openFiles }, 8192);
  expect(status).toBe(openFiles < 1024 ? 'limited' : 'ok');
  expect(advice).toBe(openFiles < 1024 ? 'Raise `ulimit -n` (LimitNOFILE= of a systemd unit).' : undefined);
});

it.each([8191, 8192, 8193])('%d watches', (watches) => {
  const { status, finding } = judgeLimits(ENOUGH, watches);
  expect(status).toBe(watches < 8192 ? 'limited' : 'ok');
  expect(finding).toBe(`open files 1024, processes unlimited, file watches ${watches}`);
});
