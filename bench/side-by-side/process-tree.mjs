// The processes below a server, so that none outlives it.
import { readdirSync, readFileSync } from 'node:fs';

/** All processes below `pid`, each with the time of its start: a number alone may come to mean another process. */
export function listDescendants(pid) {
  const found = [];
  const waiting = [pid];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const child of listChildren(next)) {
      waiting.push(child);
      found.push({ pid: child, startedAt: readStart(child) });
    }
  }
  return found;
}

/** Kills those that still run. */
export function killLeftovers(processes) {
  for (const { pid, startedAt } of processes) {
    if (startedAt === undefined || readStart(pid) !== startedAt) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself in between.
    }
  }
}

function listChildren(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** Ticks since the machine's start, or undefined for a process that is gone. */
function readStart(pid) {
  try {
    return readStatFields(pid)[19];
  } catch {
    return undefined;
  }
}

/** The fields of `/proc/PID/stat` from the third on; the second may contain anything. */
export function readStatFields(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
