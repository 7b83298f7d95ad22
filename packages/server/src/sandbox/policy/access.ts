import { isWithin } from '../../fs/native-path.js';
import type { Access, PolicyEntry } from './policy.js';

/** The rule that counts for a path: the one of the longest path that it is or is below. */
export function findRule(entries: readonly PolicyEntry[], path: Uint8Array): PolicyEntry | undefined {
  return entries.findLast((entry) => isWithin(path, entry.path));
}

/** What rules allow on a path by its text. `entries` has parents before what is below them. */
export function accessTo(entries: readonly PolicyEntry[], path: Uint8Array): Access {
  return findRule(entries, path)?.access ?? 'deny';
}

/** Of two rules for one path the one that comes later here counts. */
const PRECEDENCE: readonly Access[] = ['read', 'write', 'deny'];

/** One rule per path, parents before what is below them. */
export function orderEntries(entries: readonly PolicyEntry[]): PolicyEntry[] {
  const byPath = new Map<string, PolicyEntry>();
  for (const entry of entries) {
    const key = entry.path.toString('latin1');
    const other = byPath.get(key);
    if (other === undefined || PRECEDENCE.indexOf(other.access) < PRECEDENCE.indexOf(entry.access))
      byPath.set(key, entry);
  }
  return [...byPath.values()].sort((a, b) => Buffer.compare(a.path, b.path));
}
