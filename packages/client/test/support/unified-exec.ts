import type { ExecServerOptions } from '@exec-server/server';
import { onTestFinished } from 'vitest';
import type { Machine } from '../../src/machine.js';
import type { UnifiedExecEvent } from '../../src/unified-exec/events.js';
import type { UnifiedExecOptions } from '../../src/unified-exec/options.js';
import { createUnifiedExec, type UnifiedExec } from '../../src/unified-exec/unified-exec.js';
import { openMachine } from './machine.js';
import { ManualClock } from './manual-clock.js';

/** Unified exec on this machine, whose time only the test moves. */
export interface UnifiedExecStage {
  readonly exec: UnifiedExec;
  readonly machine: Machine;
  readonly clock: ManualClock;
  /** All events so far. */
  readonly events: readonly UnifiedExecEvent[];
  /** Waits until an event has come that is like this. */
  readonly seen: (matches: (event: UnifiedExecEvent) => boolean) => Promise<UnifiedExecEvent>;
}

/** With shells that read no profile: what a test sees does not depend on who runs it. */
const PLAIN_SHELL: UnifiedExecOptions = { shell: '/bin/sh', allowLoginShell: false };

export async function openUnifiedExec(
  options: UnifiedExecOptions = {},
  serverOptions: ExecServerOptions = {},
): Promise<UnifiedExecStage> {
  const machine = await openMachine(serverOptions);
  const clock = new ManualClock();
  const exec = createUnifiedExec(machine, { ...PLAIN_SHELL, clock, ...options });
  onTestFinished(() => exec.close());
  const events: UnifiedExecEvent[] = [];
  exec.onEvent((event) => events.push(event));
  return { exec, machine, clock, events, seen: (matches) => waitForEvent(exec, events, matches) };
}

function waitForEvent(
  exec: UnifiedExec,
  past: readonly UnifiedExecEvent[],
  matches: (event: UnifiedExecEvent) => boolean,
): Promise<UnifiedExecEvent> {
  const known = past.find(matches);
  if (known !== undefined) return Promise.resolve(known);
  return new Promise((resolve) => {
    const stop = exec.onEvent((event) => {
      if (!matches(event)) return;
      stop();
      resolve(event);
    });
  });
}

/** A reply without what differs from run to run, written as in the recordings. */
export function normalize(text: string): string {
  return text
    .replace(/^Chunk ID: [0-9a-f]{6}$/m, 'Chunk ID: <6 hex>')
    .replace(/^Wall time: \d+\.\d{4} seconds$/m, 'Wall time: <time> seconds')
    .replace(/^(Process running with session ID) \d+$/m, '$1 <ID>');
}

/** The reply of a command that has ended. */
export function endedReply(exitCode: number, tokens: number, output: string): string {
  return `Chunk ID: <6 hex>\nWall time: <time> seconds\nProcess exited with code ${exitCode}\nOriginal token count: ${tokens}\nOutput:\n${output}`;
}

/** The reply of a command that goes on. */
export function runningReply(tokens: number, output: string): string {
  return `Chunk ID: <6 hex>\nWall time: <time> seconds\nProcess running with session ID <ID>\nOriginal token count: ${tokens}\nOutput:\n${output}`;
}
