import { runBriefly } from '../../native/run-briefly.js';
import { findBubblewrap } from './find-bubblewrap.js';

/** Longest that a trial may take, in milliseconds. */
const TRIAL_TIMEOUT_MS = 5_000;

/** What a trial is made with: everything that the system may refuse to make for this user. */
const TRIAL =
  '--unshare-user --unshare-pid --unshare-ipc --unshare-net --ro-bind / / --dev /dev --proc /proc -- /bin/true'.split(
    ' ',
  );

const NAMESPACES_HINT =
  'allow unprivileged user namespaces, as with `sysctl kernel.apparmor_restrict_unprivileged_userns=0` or ' +
  '`sysctl kernel.unprivileged_userns_clone=1`, or in a container, run it with the rights to make namespaces';

/** What this server confines programs with, for people. */
export interface SandboxDescription {
  readonly kind: 'bubblewrap';
  /** Whether a sandbox can be made here; it was tried. */
  readonly available: boolean;
  readonly path?: string;
  readonly version?: string;
  /** Why it cannot. */
  readonly reason?: string;
  /** What the user can do about it. */
  readonly hint?: string;
}

/** Looks for the sandbox of this system and tries it. Blocks the loop for some milliseconds. */
export function describeSandbox(): SandboxDescription {
  const found = findBubblewrap();
  if (!found.available) return { kind: 'bubblewrap', ...found };
  const { status, stderr } = runBriefly(found.path, TRIAL, TRIAL_TIMEOUT_MS);
  if (status === 0) return { kind: 'bubblewrap', ...found };
  const reason = stderr.trim() || 'bubblewrap ended without a word';
  return { kind: 'bubblewrap', ...found, available: false, reason, hint: NAMESPACES_HINT };
}
