import { readdirSync, readFileSync } from 'node:fs';
import type { ExitStatus, LaunchedProcess, Launcher, LaunchPlan } from '../../src/native/launch.js';

export const PIPES = { kind: 'pipes', stdin: 'null' } as const;
export const PIPES_WITH_STDIN = { kind: 'pipes', stdin: 'pipe' } as const;
export const PTY = { kind: 'pty', rows: 24, cols: 80 } as const;

/** The launchers that the same rules hold for. */
export const LAUNCHERS = [
  { name: 'native', fallback: false },
  { name: 'fallback', fallback: true },
] as const;

export interface Run {
  readonly child: LaunchedProcess;
  /** Everything that a stream gave so far. */
  text(stream?: 'stdout' | 'stderr' | 'pty'): string;
  /** Resolves once the collected text of all streams matches. */
  waitFor(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Resolves when the child was reaped and every stream is at its end. */
  readonly done: Promise<ExitStatus>;
}

export function planOf(
  program: string,
  args: readonly string[],
  overrides: Partial<LaunchPlan> = {},
): LaunchPlan {
  return {
    program,
    argv: [program, ...args],
    cwd: Buffer.from('/tmp'),
    env: new Map([['PATH', '/usr/local/bin:/usr/bin:/bin']]),
    stdio: PIPES,
    extraDescriptors: [],
    ...overrides,
  };
}

export function shell(script: string, overrides: Partial<LaunchPlan> = {}): LaunchPlan {
  return planOf('/bin/sh', ['-c', script], overrides);
}

/** Starts a program and reads all of its streams. */
export function run(launcher: Launcher, plan: LaunchPlan): Run {
  return collect(launcher.launch(plan));
}

export function collect(child: LaunchedProcess): Run {
  const chunks = new Map<string, Buffer[]>(child.outputs.map(({ stream }) => [stream, []]));
  const waiters = new Set<() => void>();
  const ends = child.outputs.map(
    (output) =>
      new Promise<void>((resolve) => {
        output.start((chunk) => {
          chunks.get(output.stream)!.push(chunk);
          for (const check of waiters) check();
        }, resolve);
      }),
  );
  const text = (stream?: string) =>
    Array.from(chunks, ([name, list]) =>
      stream === undefined || stream === name ? Buffer.concat(list).toString() : '',
    ).join('');
  return {
    child,
    text,
    waitFor: (pattern) =>
      new Promise((resolve) => {
        const check = () => {
          const match = text().match(pattern);
          if (match === null) return;
          waiters.delete(check);
          resolve(match);
        };
        waiters.add(check);
        check();
      }),
    done: Promise.all([child.exit, ...ends]).then(([status]) => status),
  };
}

export function countDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

/** Waits until the condition holds; for facts of the kernel that announce themselves nowhere. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

export function turnLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The state letter of a process as the kernel shows it; null when there is no such process. */
export function readState(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').match(/.*\) (\w)/s)?.[1] ?? null;
  } catch {
    return null;
  }
}

/** Children of this process that ended and were not reaped. */
export function countZombies(): number {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').trim();
  return children === '' ? 0 : children.split(' ').filter((pid) => readState(Number(pid)) === 'Z').length;
}
