import type { ProcessRegistry } from '../process/process-registry.js';
import { killTrees } from './kill-trees.js';

/** Kills everything that a session has running and frees its ids. */
export function terminateOnSessionEnd(registry: ProcessRegistry, sessionId: string): void {
  const slots = registry.ofSession(sessionId);
  const processes = slots.flatMap(({ process }) => (process === undefined ? [] : [process]));
  for (const process of processes) process.stdin?.abandon();
  killTrees(processes);
  for (const process of processes) process.release();
  for (const slot of slots) registry.forget(slot);
}
