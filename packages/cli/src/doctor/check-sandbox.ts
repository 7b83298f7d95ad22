import { randomUUID } from 'node:crypto';
import type { Machine } from '@exec-server/client';
import { nativePathText, pathUriToNative, type SandboxContext } from '@exec-server/protocol';
import { attemptCheck, type Check, PROBE_TIMEOUT_MS } from './check.js';

/** What a machine says of the sandbox that it has. */
export interface KnownSandbox {
  /** With its version, for people. */
  readonly title: string;
  /** What to do where it cannot be used. */
  readonly hint: string | undefined;
}

/** A program exits with this where it could write what its sandbox forbids. */
const NOT_CONFINED = 3;

const DEFAULT_TEMP_DIRECTORY = '/tmp';

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

/** Whether a program can be confined, by one that tries to write what it must not. */
export function checkSandbox(machine: Machine, known?: KnownSandbox): Promise<Check> {
  const name = 'sandbox';
  const unavailable = {
    status: 'limited',
    advice: `Requests that ask for a sandbox are refused. ${known?.hint ?? ''}`.trimEnd(),
  } as const;
  return attemptCheck(name, unavailable, async () => {
    const { tempDir } = await machine.environment();
    const directory = tempDir ? nativePathText(pathUriToNative(tempDir)) : DEFAULT_TEMP_DIRECTORY;
    const file = `${directory}/exec-server-doctor-${randomUUID()}`;
    try {
      const script = `( : > "$0" ) 2>/dev/null && exit ${NOT_CONFINED}; exit 0`;
      const { exitCode, stderr } = await machine.run(['/bin/sh', '-c', script, file], {
        sandbox: READ_ONLY,
        cwd: '/',
        signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      });
      if (exitCode === 0)
        return {
          name,
          status: 'ok',
          finding: `${known === undefined ? '' : `${known.title}, `}confines what programs write`,
        };
      if (exitCode !== NOT_CONFINED)
        return {
          name,
          ...unavailable,
          finding: `does not start: ${stderr.excerpt().trim() || `exit code ${exitCode}`}`,
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
