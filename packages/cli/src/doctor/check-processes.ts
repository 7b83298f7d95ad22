import type { Machine } from '@exec-server/client';
import { attemptCheck, type Check, PROBE_TIMEOUT_MS } from './check.js';

/** Whether a program can be started, and what it writes be read. */
export function checkStart(machine: Machine): Promise<Check> {
  const name = 'processes';
  const failure = { status: 'failed', advice: 'Without them a server is of little use.' } as const;
  return attemptCheck(name, failure, async () => {
    const { stdout, exitCode } = await machine.run(['/bin/sh', '-c', 'echo "$((6 * 7))"'], {
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
    const works = stdout.trimmed() === '42' && exitCode === 0;
    return works
      ? { name, status: 'ok', finding: 'start, write and end' }
      : {
          name,
          ...failure,
          finding: `/bin/sh wrote ${JSON.stringify(stdout.text())} and exited ${exitCode}`,
        };
  });
}

/** Whether a program can be given a terminal. */
export function checkTerminal(machine: Machine): Promise<Check> {
  const name = 'terminals';
  const failure = {
    status: 'failed',
    advice: 'Is devpts mounted at /dev/pts, with a ptmx that everyone may use?',
  } as const;
  return attemptCheck(name, failure, async () => {
    const handle = await machine.pty(['/bin/sh', '-c', 'test -t 0 && tty']);
    await handle.wait({ timeoutMs: PROBE_TIMEOUT_MS });
    const { stdout, exitCode } = await handle.result();
    return exitCode === 0
      ? { name, status: 'ok', finding: stdout.trimmed() }
      : { name, ...failure, finding: 'what a program gets is none' };
  });
}
