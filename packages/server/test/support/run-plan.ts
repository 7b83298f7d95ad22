import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type SkippableTest, skipFor } from '@exec-server/testing';
import { NOBODY } from './cgroups.js';

const PROGRAM = fileURLToPath(new URL(`../../sandbox/sandbox-${process.arch}`, import.meta.url));

/** Descriptors of the plan and of the status, behind one that programs may have. */
const PLAN_FD = 4;
const STATUS_FD = 5;

/** Whoever tries plans that are wrong: never root, who could mount on the host if the program let him. */
export const PLAN_USER = process.getuid?.() === 0 ? NOBODY : process.getuid?.();

/** What came of a plan. */
export interface PlanOutcome {
  /** Words of the status. */
  readonly status: readonly string[];
  readonly output: string;
  /** What was written to descriptor 3. */
  readonly extra: string;
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

let copy: string | undefined;

/** A copy of the program where everybody can execute it. */
function programForAll(): string {
  if (copy === undefined) {
    const directory = mkdtempSync(join(realpathSync(tmpdir()), 'exec-server-program-'));
    chmodSync(directory, 0o755);
    copy = join(directory, 'sandbox');
    copyFileSync(PROGRAM, copy);
    chmodSync(copy, 0o755);
    process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  }
  return copy;
}

/** Skips a test where the program cannot run. */
export function requireSandboxProgram(test: SkippableTest): void {
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch))
    skipFor(test, 'Linux on x64 or arm64');
}

/** Runs the sandbox program with a plan of words, as a user without rights unless `user` says otherwise. */
export async function runPlan(
  words: readonly (string | number)[],
  options: {
    readonly user?: number;
    /** The program, or another that executes it, with its arguments. */
    readonly command?: readonly string[];
    readonly raw?: Buffer;
  } = {},
): Promise<PlanOutcome> {
  const user = options.user ?? PLAN_USER;
  const [program, ...args] = options.command ?? [programForAll()];
  const child = spawn(
    program!,
    [...args, String(PLAN_FD), String(STATUS_FD)],
    // Whoever changes users has to be root, also to stay himself.
    {
      cwd: '/',
      env: { LEFT: 'over' },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
      ...(process.getuid?.() === 0 && user !== 0 ? { uid: user!, gid: user! } : {}),
    },
  );
  const closed = once(child, 'close');
  // There are more of them than the types know.
  const pipes: readonly unknown[] = child.stdio;
  const plan = pipes[PLAN_FD] as Writable;
  plan.on('error', () => {});
  plan.end(options.raw ?? encodeWords(words));
  const [status, output, complaints, extra] = await Promise.all([
    buffer(pipes[STATUS_FD] as Readable),
    text(child.stdout!),
    text(child.stderr!),
    text(pipes[3] as Readable),
  ]);
  const [exitCode, signal] = (await closed) as [number | null, NodeJS.Signals | null];
  return {
    status: status.toString().split('\0').slice(0, -1),
    output: output + complaints,
    extra,
    exitCode,
    signal,
  };
}

export function encodeWords(words: readonly (string | number)[]): Buffer {
  return Buffer.concat(words.flatMap((word) => [Buffer.from(String(word)), Buffer.of(0)]));
}

/** The steps before the view of a sandbox. */
export function namespaces(user: number): (string | number)[] {
  const kinds = ['user', 'mount', 'pid', 'ipc', 'net'];
  return ['namespaces', kinds.length, ...kinds, 'map-user', user, user, 'loopback'];
}

/** The steps behind it. */
export const ENTER = ['pivot', 'capabilities', 'init', 'entered', 'session'] as const;

/** The last step, with a script for the shell. Descriptors above 3 are not the program's. */
export function shell(script: string, ...args: readonly string[]): (string | number)[] {
  const argv = ['sh', '-c', script, ...args];
  return ['descriptors', PLAN_FD, 'exec', '/bin/sh', argv.length, ...argv, 1, 'PATH=/usr/bin:/bin'];
}
