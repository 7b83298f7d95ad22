import {
  constants,
  type NodeGCPerformanceDetail,
  type PerformanceEntry,
  PerformanceObserver,
} from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { CollectionLoad } from './collection-load.js';

/** Versions of Node whose V8 has the flag; one that has not would complain on stderr. */
const MIN_NODE_MAJOR = 20;
const MAX_NODE_MAJOR = 26;

/** V8 reads the factor whenever it lets the young generation grow, so that it can change while the program runs. */
export const HOLD_FLAG = '--semi-space-growth-factor=1';
/** What V8 does by itself. */
export const GROW_FLAG = '--semi-space-growth-factor=2';

/** What is told of each collection; the types of Node leave its `detail` out. */
interface CollectionEntry extends PerformanceEntry {
  readonly detail: NodeGCPerformanceDetail;
}

/**
 * Keeps V8's young generation as small as it is, unless collecting it often takes much time. By itself V8 lets it grow
 * with whatever stays alive, up to 48 MiB: many idle processes would cost twice their memory for nothing. Where bytes are
 * carried it pays, and may grow. The returned function leaves it to V8 again.
 */
export function holdYoungGeneration(setFlags: (flags: string) => void = setFlagsFromString): () => void {
  const major = Number.parseInt(process.versions.node, 10);
  if (major < MIN_NODE_MAJOR || major > MAX_NODE_MAJOR) return () => {};
  const load = new CollectionLoad(performance.now());
  let held = true;
  setFlags(HOLD_FLAG);
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as CollectionEntry[]) {
      if (entry.detail.kind === constants.NODE_PERFORMANCE_GC_MINOR)
        load.add(entry.startTime, entry.duration);
    }
    if (held !== load.isHeavy) return;
    held = !held;
    setFlags(held ? HOLD_FLAG : GROW_FLAG);
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => {
    observer.disconnect();
    setFlags(GROW_FLAG);
  };
}
