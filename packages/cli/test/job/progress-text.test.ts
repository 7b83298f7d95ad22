import { expect, test } from 'vitest';
import { toEtaText, toProgressJson, toProgressLine } from '../../src/job/progress-text.js';

const ID = '1a2b3c4d-0000-4000-8000-000000000000';
const progress = { total: 10, pending: 5, running: 2, completed: 3, failed: 0, runningItems: [] };

test.each([
  [12_000, '[######--------------] 3/10 30% f0 r2 p5 eta 12.00s'],
  [undefined, '[######--------------] 3/10 30% f0 r2 p5 eta --'],
])('the line of a job with %s ms to go', (etaMs, text) => {
  expect(toProgressLine(ID, { ...progress, etaMs })).toBe(`job 1a2b3c4d ${text}`);
});

test('a job without items is done', () => {
  const none = { ...progress, total: 0, pending: 0, running: 0, completed: 0, etaMs: undefined };
  expect(toProgressLine(ID, none)).toBe(`job 1a2b3c4d [${'#'.repeat(20)}] 0/0 100% f0 r0 p0 eta --`);
});

test.each([
  [0, '0.00s'],
  [59_990, '59.99s'],
  [60_000, '1m 0s'],
  [75_000, '1m 15s'],
  [3_661_000, '61m 1s'],
])('%i ms are %s', (etaMs, text) => {
  expect(toEtaText(etaMs)).toBe(text);
});

test('for programs it has the names of the reference', () => {
  expect(JSON.parse(toProgressJson(ID, { ...progress, etaMs: 1500 }))).toEqual({
    job_id: ID,
    total_items: 10,
    pending_items: 5,
    running_items: 2,
    completed_items: 3,
    failed_items: 0,
    eta_seconds: 1.5,
  });
});
