import { createHash } from 'node:crypto';
import { runInTurns, type Steps } from '../../loop-turn.js';
import { RuleTree } from './rule-tree.js';

/** What is allowed on a path and everything below it. */
export type Access = 'read' | 'write' | 'deny';

/** A rule for one path. */
export interface PolicyEntry {
  /** Absolute path of this host, without `.`, `..` and a trailing slash. It need not exist, and may be a link. */
  readonly path: Buffer;
  readonly access: Access;
  /** Set for a rule that comes with another one, and counts only where that one's path exists. */
  readonly implied?: true;
}

/** Rules for files. The rule of the longest path counts; what no rule covers is not there. */
export interface FilePolicy {
  /** One for each path. */
  readonly rules: RuleTree;
  /** How many rules and patterns the context came to; those that come with others are not counted. */
  readonly ruleCount: number;
  /** Absolute patterns of paths that are denied in spite of `rules`. */
  readonly denyGlobs: readonly string[];
  /** How many directories deep, from where a pattern first varies, it is looked up. @default no limit */
  readonly globScanMaxDepth: number | undefined;
  /** Whether programs get the directories that every program needs, such as `/usr`, to read. */
  readonly minimal: boolean;
  /** Whether everything may be read. */
  readonly fullRead: boolean;
  /** Whether everything may be written, and so read. */
  readonly fullWrite: boolean;
}

/** A sandbox context in terms of this host. */
export interface ResolvedPolicy {
  readonly files: 'unrestricted' | FilePolicy;
  readonly network: 'enabled' | 'restricted';
}

/** Takes nothing away. */
export const OPEN_POLICY: ResolvedPolicy = { files: 'unrestricted', network: 'enabled' };

/** Whether a policy takes nothing away. */
export function isOpen({ files, network }: ResolvedPolicy): boolean {
  return network === 'enabled' && allowsAllFiles(files);
}

/** Whether every file may be read and written. */
export function allowsAllFiles(files: ResolvedPolicy['files']): boolean {
  return files === 'unrestricted' || files.fullWrite;
}

/** Whether every file may be read. */
export function allowsAllReads(files: ResolvedPolicy['files']): boolean {
  return files === 'unrestricted' || files.fullRead;
}

/** Lets everything be read, and nothing be written. */
const READ_POLICY: FilePolicy = {
  rules: RuleTree.of([{ path: Buffer.from('/'), access: 'read' }]),
  ruleCount: 1,
  denyGlobs: [],
  globScanMaxDepth: undefined,
  minimal: false,
  fullRead: true,
  fullWrite: false,
};

/**
 * The simplest policy that is as good as another one for a kind of access, so that whoever keeps something for each policy
 * keeps less.
 */
export function simplifyFor(
  access: 'reads' | 'changes',
  files: ResolvedPolicy['files'],
): ResolvedPolicy['files'] {
  if (allowsAllFiles(files)) return 'unrestricted';
  return access === 'reads' && allowsAllReads(files) ? READ_POLICY : files;
}

/** Text that two policies share only if they allow the same, to keep things by. */
export function sandboxKey(policy: ResolvedPolicy): string | Promise<string> {
  return runInTurns(digest(policy));
}

function* digest({ files, network }: ResolvedPolicy): Steps<string> {
  const hash = createHash('sha256').update(network);
  const add = (...parts: unknown[]) => void hash.update(JSON.stringify(parts));
  if (files !== 'unrestricted') {
    add(files.minimal, files.globScanMaxDepth);
    for (const pattern of files.denyGlobs) {
      add(pattern);
      yield;
    }
    for (const { path, access } of files.rules.rules) {
      add(path.toString('latin1'), access);
      yield;
    }
  }
  return hash.digest('base64');
}
