import { waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../src/telemetry/audit.js';
import { openServer, openSession, shellParams, startParams, untilClosed } from '../support/session.js';

describe('the audit log', () => {
  it('has a line per start and end, and none of the environment or the output', async () => {
    const events: AuditEvent[] = [];
    const wire = await openSession(openServer({ auditLog: { record: (event) => events.push(event) } }));
    const env = { PATH: '/bin:/usr/bin', SECRET: 'canary-in-env' };
    await wire.request('process/start', shellParams('p', 'echo canary-in-output; exit 3', { env }));
    await untilClosed(wire, 'p');
    await wire.request('process/start', startParams('q', ['/nonexistent']));
    const who = { principal: { kind: 'anonymous' }, remote: expect.any(String), sessionId: wire.sessionId };
    expect(events).toEqual([
      {
        event: 'process-started',
        ...who,
        processId: 'p',
        pid: expect.any(Number),
        argv: ['/bin/sh', '-c', 'echo canary-in-output; exit 3'],
        cwd: 'file:///tmp',
        tty: false,
      },
      {
        event: 'process-ended',
        ...who,
        processId: 'p',
        pid: expect.any(Number),
        outcome: 'exited',
        exitCode: 3,
        durationMs: expect.any(Number),
      },
      {
        event: 'process-refused',
        ...who,
        processId: 'q',
        argv: ['/nonexistent'],
        cwd: 'file:///tmp',
        reason: 'No such file or directory (os error 2)',
      },
    ]);
    expect(JSON.stringify(events)).not.toContain('canary-in-env');
  });

  it('that cannot be written refuses the start and ends what was begun', async () => {
    let pid = 0;
    const record = (event: AuditEvent) => {
      if (event.event !== 'process-started') return;
      pid = event.pid;
      throw new Error('disk full');
    };
    const wire = await openSession(openServer({ auditLog: { record } }));
    expect((await wire.request('process/start', startParams('p', ['/bin/sleep', '60']))).error).toMatchObject(
      {
        code: -32603,
        message: 'the audit log cannot be written',
      },
    );
    await waitForProcessGone(pid);
  });
});
