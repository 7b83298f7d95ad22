import { execFile, spawnSync } from 'node:child_process';

/** How a short run ended. */
export interface BriefRun {
  /** Exit code; `null` when it was ended by a signal or did not start. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program that ends at once, such as one that says its version. Blocks the loop meanwhile. */
export function runBriefly(program: string, args: readonly string[], timeoutMs: number): BriefRun {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
  });
  // Of a program that did not start there are no streams, whatever the types say.
  return { status, stdout: (stdout as string | null) ?? '', stderr: (stderr as string | null) ?? '' };
}

/** The same without blocking the loop. */
export function runBrieflyAside(
  program: string,
  args: readonly string[],
  timeoutMs: number,
): Promise<BriefRun> {
  return new Promise((resolve) => {
    const options = { encoding: 'utf8', env: { LC_ALL: 'C' }, timeout: timeoutMs } as const;
    execFile(program, args, options, (error, stdout, stderr) => {
      // Its code is a text where the program did not start, and none where a signal ended it.
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      resolve({ status, stdout, stderr });
    }).stdin?.end();
  });
}
