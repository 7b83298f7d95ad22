import { execFileSync } from 'node:child_process';

/** What a program prints that ends at once, such as its version; nothing when it fails. Blocks the loop meanwhile. */
export function readProgramOutput(
  program: string,
  args: readonly string[],
  timeoutMs: number,
): string | undefined {
  try {
    return execFileSync(program, args, {
      encoding: 'utf8',
      env: { LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: timeoutMs,
    });
  } catch {
    return undefined;
  }
}
