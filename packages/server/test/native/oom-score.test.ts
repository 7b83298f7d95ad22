import { readFileSync } from 'node:fs';
import { platform } from 'node:process';
import { expect, it } from 'vitest';
import { openServer, openSession, shellParams, untilPrinted } from '../support/session.js';

it.runIf(platform === 'linux')(
  'what a child starts is ended before the server when memory runs out',
  async () => {
    const own = Number(readFileSync('/proc/self/oom_score_adj', 'latin1'));
    const wire = await openSession(openServer());
    // Asked for until it has changed: the child may run before the server has come to that.
    const script = `until [ "$(cat /proc/self/oom_score_adj)" -gt ${own} ]; do :; done; echo raised`;
    await wire.request('process/start', shellParams('p', script));
    await untilPrinted(wire, 'p', 'raised');
    expect(Number(readFileSync('/proc/self/oom_score_adj', 'latin1'))).toBe(own);
  },
);
