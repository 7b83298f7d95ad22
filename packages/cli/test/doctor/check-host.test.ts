import { expect, it } from 'vitest';
import { checkNode, judgeBackends } from '../../src/doctor/check-host.js';

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

const REFUSED = { works: false, reason: 'pivot: no', step: 'pivot', hint: 'allow it' } as const;

it('one that does not work is no matter where another does as much', () => {
  expect(
    judgeBackends([
      { name: 'helper', makesViews: true, ...REFUSED },
      { name: 'bubblewrap', makesViews: true, works: true, detail: '/usr/bin/bwrap 0.8.0' },
    ]),
  ).toEqual([
    { name: 'sandbox helper', status: 'ok', finding: 'does not work, and is not needed: pivot: no' },
    { name: 'sandbox bubblewrap', status: 'ok', finding: 'works: /usr/bin/bwrap 0.8.0' },
  ]);
});

it('one that works for few policies makes up for no other', () => {
  expect(
    judgeBackends([
      { name: 'helper', makesViews: true, ...REFUSED },
      { name: 'landlock', makesViews: false, works: true },
    ]),
  ).toEqual([
    {
      name: 'sandbox helper',
      status: 'limited',
      finding: 'does not work: pivot: no',
      advice: 'To have it: allow it.',
    },
    { name: 'sandbox landlock', status: 'ok', finding: 'works' },
  ]);
});
