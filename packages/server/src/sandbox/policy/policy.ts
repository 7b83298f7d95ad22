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
  /** One per path, parents before what is below them. */
  readonly entries: readonly PolicyEntry[];
  /** Absolute patterns of paths that are denied in spite of `entries`. */
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
  entries: [{ path: Buffer.from('/'), access: 'read' }],
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
export function sandboxKey({ files, network }: ResolvedPolicy): string {
  if (files === 'unrestricted') return JSON.stringify([network]);
  const { entries, denyGlobs, globScanMaxDepth, minimal } = files;
  const rules = entries.map(({ path, access }) => [path.toString('latin1'), access]);
  return JSON.stringify([network, minimal, globScanMaxDepth ?? null, denyGlobs, rules]);
}
