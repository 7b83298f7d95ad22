import type { SandboxContext, SandboxEntry } from '@exec-server/protocol';
import { nativeToPathUri } from '@exec-server/protocol';
import { isHiddenProgram, type SkippableTest, skipFor } from '@exec-server/testing';
import type { BackendName } from '../../src/sandbox/backend.js';
import { type BackendDescription, describeBackends } from '../../src/sandbox/backends.js';
import type { FilePolicy, ResolvedPolicy } from '../../src/sandbox/policy/policy.js';
import {
  type PolicyHost,
  type PolicySource,
  resolvePolicy,
} from '../../src/sandbox/policy/resolve-policy.js';

type Access = SandboxEntry['access'];
type SpecialPath = Extract<SandboxEntry['path'], { type: 'special' }>['value'];

/** A rule for a path of this host. */
export function rule(path: string, access: Access): SandboxEntry {
  return { path: { type: 'path', path: nativeToPathUri(path) }, access };
}

/** A rule for a place that has a name. */
export function special(value: SpecialPath, access: Access): SandboxEntry {
  return { path: { type: 'special', value }, access };
}

/** A rule for a pattern. */
export function pattern(text: string, access: Access): SandboxEntry {
  return { path: { type: 'glob_pattern', pattern: text }, access };
}

/** A rule for a path of another kind of host. */
export const FOREIGN_RULE: SandboxEntry = { path: { type: 'path', path: 'file:///C:/x' }, access: 'read' };

/** What makes sandboxes of whatever rules. */
export const VIEW_BACKENDS = ['helper', 'bubblewrap'] as const satisfies readonly BackendName[];

/** Everything may be read. */
export const READ_ROOT = special({ kind: 'root' }, 'read');

/** A sandbox of rules for files, with restricted network unless `changes` say otherwise. */
export function sandboxOf(
  entries: readonly SandboxEntry[],
  changes: Partial<SandboxContext> & {
    readonly network?: 'enabled' | 'restricted';
    readonly depth?: number;
  } = {},
): SandboxContext {
  const { network = 'restricted', depth, ...context } = changes;
  return {
    permissions: {
      type: 'managed',
      network,
      file_system: {
        type: 'restricted',
        entries: [...entries],
        ...(depth === undefined ? {} : { glob_scan_max_depth: depth }),
      },
    },
    windowsSandboxLevel: 'disabled',
    ...context,
  };
}

/** What a context of few rules allows, which is known at once. */
export function resolveNow(context: PolicySource, host: PolicyHost): ResolvedPolicy {
  const policy = resolvePolicy(context, host);
  if (policy instanceof Promise) throw new Error('a policy of few rules has to be known at once');
  return policy;
}

/** The same, of one that restricts files. */
export function resolveFiles(
  context: PolicySource,
  host: PolicyHost = { temporaryDirectories: [] },
): FilePolicy {
  const { files } = resolveNow(context, host);
  if (files === 'unrestricted') throw new Error('the policy does not restrict files');
  return files;
}

/** Skips a test where no sandbox can be made. Under CI, where everything is installed, it fails instead. */
export function requireSandbox(test: SkippableTest): Promise<void> {
  return requireOne(test, ({ makesViews }) => makesViews);
}

/** The same for a certain one. */
export function requireBackend(test: SkippableTest, wanted: BackendName): Promise<void> {
  return requireOne(test, ({ name }) => name === wanted);
}

async function requireOne(
  test: SkippableTest,
  isWanted: (backend: BackendDescription) => boolean,
): Promise<void> {
  const backends = (await describeBackends()).filter(isWanted);
  if (backends.some(({ works }) => works)) return;
  const reasons = backends
    .map((backend) => `${backend.name}: ${backend.works ? '' : backend.reason}`)
    .join('; ');
  const isHidden = backends.every(({ name }) => name === 'bubblewrap') && isHiddenProgram('bwrap');
  if (process.env.CI && !isHidden) throw new Error(`${test.task.name} needs a sandbox: ${reasons}`);
  skipFor(test, `a sandbox: ${reasons}`);
}
