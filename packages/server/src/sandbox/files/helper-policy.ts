import { accessTo, orderEntries } from '../policy/access.js';
import type { FilePolicy, PolicyEntry } from '../policy/policy.js';
import { findRuntime } from './runtime-paths.js';

/**
 * What a helper is confined to: the policy, and the files that it needs to run, which are there to be read, alone and not
 * with what is beside them.
 */
export function makeRoomForHelper(files: FilePolicy): FilePolicy {
  const { paths, complete } = findRuntime();
  const own = paths
    .filter((path) => accessTo(files.entries, path) === 'deny')
    .map((path): PolicyEntry => ({ path, access: 'read' }));
  return {
    ...files,
    entries: orderEntries([...files.entries, ...own]),
    minimal: files.minimal || !complete,
  };
}
