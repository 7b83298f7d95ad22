import { runInTurns } from '../../loop-turn.js';
import type { FilePolicy, PolicyEntry } from '../policy/policy.js';
import { RuleTree } from '../policy/rule-tree.js';
import { findRuntime } from './runtime-paths.js';

/**
 * What a helper is confined to: the policy, and the files that it needs to run, which are there to be read, alone and not
 * with what is beside them.
 */
export async function makeRoomForHelper(files: FilePolicy): Promise<FilePolicy> {
  const { paths, complete } = findRuntime();
  const own = paths
    .filter((path) => files.rules.accessTo(path) === 'deny')
    .map((path): PolicyEntry => ({ path, access: 'read' }));
  return {
    ...files,
    rules: await runInTurns(RuleTree.build([...files.rules.rules, ...own])),
    minimal: files.minimal || !complete,
  };
}
