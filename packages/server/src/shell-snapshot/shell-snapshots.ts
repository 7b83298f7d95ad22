import type { EnvPolicy } from '@exec-server/protocol';
import type { Clock } from '../clock.js';
import type { LaunchedProcess, Launcher, LaunchPlan } from '../native/launch.js';
import { hasMemoryFiles } from '../native/memory-file.js';
import type { Session } from '../sessions/session.js';
import type { Logger } from '../telemetry/logger.js';
import { runCapture } from './run-capture.js';
import type { Snapshot } from './snapshot.js';
import type { SnapshotRequest, SnapshotShell } from './snapshot-request.js';

/** Snapshots kept per session; one more takes the place of the one that was not used for longest. */
export const MAX_SNAPSHOTS_PER_SESSION = 16;
/** Captures tried for one snapshot before commands run without it for good, and time between them. */
export const MAX_CAPTURE_ATTEMPTS = 3;
export const CAPTURE_RETRY_MS = 1_000;

/** A command that wants to run from a snapshot. */
export interface SnapshotUse {
  readonly request: SnapshotRequest;
  readonly shell: SnapshotShell;
  /** The command as it would run without one. */
  readonly plan: LaunchPlan;
  readonly envPolicy?: EnvPolicy | undefined;
  /** The sandbox that the command runs in, and its login as well: what tells it apart, and how to start something there. */
  readonly sandbox?: { readonly key: string; launch(plan: LaunchPlan): Promise<LaunchedProcess> } | undefined;
}

interface Entry {
  /** The snapshot, or nothing when it could not be taken. */
  snapshot: Promise<Snapshot | undefined>;
  attempts: number;
  /** When a failed capture may be tried again; absent while it runs and once it succeeded. */
  retryAt: number | undefined;
}

export interface ShellSnapshotsOptions {
  readonly launcher: Launcher;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The snapshots of all sessions. They live in memory and end with their session. */
export class ShellSnapshots {
  readonly #sessions = new WeakMap<Session, Map<string, Entry>>();

  constructor(private readonly options: ShellSnapshotsOptions) {}

  /**
   * The snapshot for a command, captured now if it is the first of its kind; commands that come meanwhile wait for the
   * same capture. Nothing when there is none to be had.
   */
  find(session: Session, use: SnapshotUse): Promise<Snapshot | undefined> {
    if (!hasMemoryFiles()) return Promise.resolve(undefined);
    const entries = this.#sessions.get(session) ?? new Map<string, Entry>();
    this.#sessions.set(session, entries);
    const key = describeKind(use);
    const entry = entries.get(key) ?? this.#open(session, use);
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > MAX_SNAPSHOTS_PER_SESSION) entries.delete(entries.keys().next().value!);
    if (entry.retryAt !== undefined && entry.retryAt <= this.options.clock.now())
      this.#retry(session, use, entry);
    return entry.snapshot;
  }

  #open(session: Session, use: SnapshotUse): Entry {
    const entry: Entry = { snapshot: Promise.resolve(undefined), attempts: 0, retryAt: undefined };
    this.#retry(session, use, entry);
    return entry;
  }

  #retry(session: Session, use: SnapshotUse, entry: Entry): void {
    entry.attempts++;
    entry.retryAt = undefined;
    entry.snapshot = this.#capture(session, use).catch((error: unknown) => {
      this.options.logger.info({ error, scope: use.request.scopeId }, 'no shell snapshot');
      if (entry.attempts < MAX_CAPTURE_ATTEMPTS) entry.retryAt = this.options.clock.now() + CAPTURE_RETRY_MS;
      return undefined;
    });
  }

  async #capture(session: Session, { plan, shell, sandbox }: SnapshotUse): Promise<Snapshot> {
    const { launcher, clock } = this.options;
    return runCapture(plan, shell, {
      launch: async (login) => (sandbox === undefined ? launcher.launch(login) : sandbox.launch(login)),
      clock,
      onLaunched: (launched) => session.answerFor(launched),
    });
  }
}

/** What commands must have in common to share a snapshot. */
function describeKind({ request, plan, envPolicy, sandbox }: SnapshotUse): string {
  const { scopeId, shell } = request;
  return JSON.stringify([
    scopeId,
    shell.name,
    shell.path,
    Buffer.from(plan.cwd).toString('latin1'),
    envPolicy,
    sandbox?.key,
  ]);
}
