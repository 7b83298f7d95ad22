import type { Capture } from './parse-capture.js';
import { restoreScript } from './restore-script.js';
import type { SnapshotShell } from './snapshot-request.js';

/** Largest snapshot that is kept, in bytes. */
export const MAX_SNAPSHOT_BYTES = 512 * 1024;

/** Variables that describe the moment and not the login; a shell sets them itself. */
const TRANSIENT = new Set(['PWD', 'OLDPWD', 'SHLVL', '_']);
/** Functions travel as part of the state. */
const EXPORTED_FUNCTION = 'BASH_FUNC_';

/** The state that a login left in a shell, as the difference that it made. */
export interface Snapshot {
  readonly shell: SnapshotShell;
  /** Commands that restore functions, aliases and options; one character per byte. */
  readonly state: string;
  /** Exported variables that the login set or changed. */
  readonly changed: ReadonlyMap<string, string>;
  /** Variables that it took away. */
  readonly removed: ReadonlySet<string>;
}

/** Makes a snapshot of a capture that began with the variables `before`. Nothing when it is too large to keep. */
export function createSnapshot(
  shell: SnapshotShell,
  capture: Capture,
  before: ReadonlyMap<string, string>,
): Snapshot | undefined {
  const isKept = (name: string) => !TRANSIENT.has(name) && !name.startsWith(EXPORTED_FUNCTION);
  const changed = new Map<string, string>();
  for (const [name, value] of capture.environment)
    if (isKept(name) && before.get(name) !== value) changed.set(name, value);
  const removed = new Set(
    [...before.keys()].filter((name) => isKept(name) && !capture.environment.has(name)),
  );
  const state = restoreScript(shell, capture);
  const variableBytes = Array.from(changed, ([name, value]) => Buffer.byteLength(name + value) + 2);
  const bytes = variableBytes.reduce((total, size) => total + size, state.length);
  return bytes > MAX_SNAPSHOT_BYTES ? undefined : { shell, state, changed, removed };
}
