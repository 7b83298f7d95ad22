import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type RunningServer, startServer } from '@exec-server/testing';
import { onTestFinished, vi } from 'vitest';

export const BUILT_COMMAND = fileURLToPath(new URL('../../packages/cli/bin/exec-server.js', import.meta.url));

/** Long for the slowest machine, in milliseconds. */
const PATIENCE_MS = 20_000;

/** The built server, run by another program that takes something away from it. */
export async function serveUnder(
  wrapper: readonly string[],
  args: readonly string[] = [],
): Promise<RunningServer> {
  const command = [...wrapper, process.execPath, BUILT_COMMAND];
  const server = await startServer({ command, args });
  onTestFinished(async () => void (await server.stop()));
  return server;
}

/** Leaves a running process only so many descriptors beside those that it has. */
export function leaveDescriptors(pid: number, count: number): void {
  limitDescriptors(pid, countDescriptors(pid) + count);
}

/** Lets a process have at most so many descriptors, from here on. */
export function limitDescriptors(pid: number, limit: number): void {
  const { status, stderr } = spawnSync('prlimit', [`--pid=${pid}`, `--nofile=${limit}:${limit}`]);
  if (status !== 0) throw new Error(`prlimit: ${String(stderr)}`);
}

export function countDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Resident memory of a process, in bytes. */
export function measureResidentBytes(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kibibytes) * 1024;
}

/** Waits until the server has no more descriptors than that: nobody is told when one is closed. */
export async function untilDescriptors(pid: number, most: number): Promise<void> {
  await vi.waitFor(
    () => {
      const count = countDescriptors(pid);
      if (count > most) throw new Error(`${count} descriptors instead of ${most}`);
    },
    { timeout: PATIENCE_MS },
  );
}
