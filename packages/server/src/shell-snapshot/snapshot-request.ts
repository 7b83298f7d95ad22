import { MAX_SNAPSHOT_SCOPE_BYTES } from '@exec-server/protocol';

/** Shells whose state can be captured. */
export type SnapshotShell = 'bash' | 'zsh' | 'sh';

const SHELLS: readonly string[] = ['bash', 'zsh', 'sh'] satisfies SnapshotShell[];

/** A wish to run a login shell's script without running the login again. */
export interface SnapshotRequest {
  /** The client's name for what shares a capture. */
  readonly scopeId: string;
  readonly shell: { readonly name: string; readonly path: string };
}

/** A wish that cannot be granted. The message is meant for clients. */
export class SnapshotRequestError extends Error {
  override readonly name = 'SnapshotRequestError';
}

/**
 * The shell that a command can be run in from a snapshot. Nothing for commands that are not `<shell> -lc <script> …`:
 * they run as they are. Throws {@link SnapshotRequestError}.
 */
export function findSnapshotShell(
  { scopeId, shell }: SnapshotRequest,
  argv: readonly string[],
): SnapshotShell | undefined {
  if (scopeId === '' || Buffer.byteLength(scopeId) > MAX_SNAPSHOT_SCOPE_BYTES)
    throw new SnapshotRequestError(
      `shell snapshot scope must be non-empty and at most ${MAX_SNAPSHOT_SCOPE_BYTES} bytes`,
    );
  if (argv.length < 3 || argv[0] !== shell.path || argv[1] !== '-lc') return undefined;
  if (SHELLS.includes(shell.name)) return shell.name as SnapshotShell;
  throw new SnapshotRequestError(`shell snapshots are unsupported for shell \`${shell.name}\``);
}
