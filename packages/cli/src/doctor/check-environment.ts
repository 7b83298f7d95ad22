import { FileSystemError, type Machine } from '@exec-server/client';
import type { EnvironmentCapabilities } from '@exec-server/protocol';
import { attemptCheck, type Check } from './check.js';

/** What each capability is good for at this command line. */
const USES: Partial<Readonly<Record<keyof EnvironmentCapabilities, string>>> = {
  processAttach: 'attach, logs and kill of what others started',
  processTags: 'ps, and run --tag',
  processKeepAlive: 'run --detach',
  processTimeout: 'run --timeout',
  processSize: 'resizing terminals',
  processSignals: 'signals other than interrupt',
  processCloseStdin: 'the end of input in run',
  fsSetMode: 'permissions in cp',
  fsLinks: 'links in cp and ls',
  fsListBroken: 'cp -r from the server',
  fileWriteStreaming: 'cp of large files to the server',
};

/** Whether the shell that commands of others are run with is there. */
export function checkShell(machine: Machine): Promise<Check> {
  const name = 'shell';
  return attemptCheck(name, { status: 'limited' }, async () => {
    const { path } = (await machine.environment()).shell;
    // Older servers may name a command instead of a path.
    if (!path.startsWith('/')) return { name, status: 'ok', finding: path };
    try {
      await machine.fs.stat(path);
      return { name, status: 'ok', finding: path };
    } catch (error) {
      if (!(error instanceof FileSystemError)) throw error;
      const advice = 'Install it, or change the login shell of the user that the server runs as.';
      return { name, status: 'limited', finding: error.message, advice };
    }
  });
}

/** Which of the commands here the server has all operations for. */
export async function checkCapabilities(machine: Machine): Promise<Check> {
  const { capabilities = {} } = await machine.environment();
  return judgeCapabilities(capabilities);
}

function judgeCapabilities(capabilities: EnvironmentCapabilities): Check {
  const missing = (Object.keys(USES) as (keyof EnvironmentCapabilities)[]).filter(
    (key) => !capabilities[key],
  );
  const name = 'operations';
  if (missing.length === 0) return { name, status: 'ok', finding: 'all that the commands here use' };
  return {
    name,
    status: 'limited',
    finding: `without ${missing.map((key) => `${key} (${USES[key]})`).join(', ')}`,
    advice: 'A newer exec-server has them, unless it was started with --disable-capability.',
  };
}
