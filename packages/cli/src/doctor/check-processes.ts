import { randomUUID } from 'node:crypto';
import type { Machine } from '@exec-server/client';
import { nativePathText, pathUriToNative, type SandboxContext } from '@exec-server/protocol';
import { attemptCheck, type Check } from './check.js';

/** Longest that anything that is started here may take, in milliseconds. */
const PROBE_TIMEOUT_MS = 10_000;

/** A program exits with this where it could write what its sandbox forbids. */
const NOT_CONFINED = 3;

/** Everything can be read and nothing written, and there is no network. */
const READ_ONLY: SandboxContext = {
  permissions: {
    type: 'managed',
    file_system: {
      type: 'restricted',
      entries: [{ path: { type: 'special', value: { kind: 'root' } }, access: 'read' }],
    },
    network: 'restricted',
  },
  sandboxOverride: 'noOverride',
  workspaceRoots: [],
  windowsSandboxLevel: 'disabled',
  useLegacyLandlock: false,
};

/** Whether a program can be started, and what it writes be read. */
export function checkStart(machine: Machine): Promise<Check> {
  const name = 'processes';
  const failure = { status: 'failed', advice: 'Without them a server is of little use.' } as const;
  return attemptCheck(name, failure, async () => {
    const { stdout, exitCode } = await machine.run(['/bin/sh', '-c', 'echo "$((6 * 7))"'], {
      timeoutMs: PROBE_TIMEOUT_MS,
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
    const handle = await machine.pty(['/bin/sh', '-c', 'test -t 0 && tty'], { timeoutMs: PROBE_TIMEOUT_MS });
    const { stdout, exitCode } = await handle.result();
    return exitCode === 0
      ? { name, status: 'ok', finding: stdout.trimmed() }
      : { name, ...failure, finding: 'what a program gets is none' };
  });
}

/** Whether a program can be confined, by one that tries to write what it must not. */
export function checkSandbox(machine: Machine): Promise<Check> {
  const name = 'sandbox';
  const unavailable = { status: 'limited', advice: 'Requests that ask for a sandbox are refused.' } as const;
  return attemptCheck(name, unavailable, async () => {
    const { tempDir } = await machine.environment();
    const directory = tempDir ? nativePathText(pathUriToNative(tempDir)) : '/tmp';
    const file = `${directory}/exec-server-doctor-${randomUUID()}`;
    try {
      const script = `( : > "$0" ) 2>/dev/null && exit ${NOT_CONFINED}; exit 0`;
      const { exitCode, stderr } = await machine.run(['/bin/sh', '-c', script, file], {
        sandbox: READ_ONLY,
        cwd: '/',
        timeoutMs: PROBE_TIMEOUT_MS,
      });
      if (exitCode === 0) return { name, status: 'ok', finding: 'confines what programs write' };
      if (exitCode !== NOT_CONFINED)
        return {
          name,
          ...unavailable,
          finding: `does not start: ${stderr.trimmed() || `exit code ${exitCode}`}`,
        };
      return {
        name,
        status: 'failed',
        finding: 'a confined program could write what it must not',
        advice: 'Do not rely on the sandbox of this server.',
      };
    } finally {
      await machine.fs.rm(file, { force: true });
    }
  });
}
