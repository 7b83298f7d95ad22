import { randomBytes } from 'node:crypto';
import { closeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Logger, silentLogger } from '../../telemetry/logger.js';
import { LeftoverSweep } from '../leftover-sweep.js';
import { readProcess } from '../process-tree.js';
import {
  createThreadedGroup,
  enterGroup,
  listGroups,
  moveThisThread,
  openGroup,
  removeGroup,
} from './cgroup-files.js';
import { killCgroups } from './kill-cgroups.js';
import { findOwnCgroup } from './own-cgroup.js';
import { ProcessCgroup } from './process-cgroup.js';
import { SpareGroups } from './spare-groups.js';

/** `exec-server-<pid>-<start time>-<random>`: whose home it is; a process may have several launchers. */
const HOME_NAME = /^exec-server-(\d+)-(\d+)-[0-9a-f]+$/;
const RANDOM_BYTES = 4;

/**
 * The cgroup of a launcher, below this process's own, with one group in it for each child. Making it throws where the
 * system has no cgroups of version 2, or this process may not make any.
 */
export class CgroupHome {
  readonly path: string;
  /** The group that this process is in, open. */
  readonly #ownGroup: number;
  readonly #logger: Logger;
  readonly #groups = new Set<ProcessCgroup>();
  readonly #sweep = new LeftoverSweep<ProcessCgroup>(findPopulated, (cgroup) => this.#remove(cgroup));
  readonly #spares = new SpareGroups(() => this.#chooseGroupPath());
  #groupsMade = 0;
  #usable = true;
  #closed = false;
  #warned = false;

  constructor(logger: Logger) {
    this.#logger = logger;
    const parent = findOwnCgroup();
    removeAbandonedHomes(parent);
    const { pid } = process;
    const random = randomBytes(RANDOM_BYTES).toString('hex');
    this.path = join(parent, `exec-server-${pid}-${readProcess(pid)?.startTime}-${random}`);
    this.#ownGroup = openGroup(parent);
    try {
      createThreadedGroup(this.path);
      this.#tryOut();
    } catch (error) {
      removeGroup(this.path);
      closeSync(this.#ownGroup);
      throw error;
    }
  }

  /**
   * Runs `start` with this thread in a new group, so that the child it makes is in there before its first instruction.
   * Whatever `start` throws is passed on. The group is `null` when none could be made.
   */
  startInGroup<Started>(start: () => Started): { started: Started; cgroup: ProcessCgroup | null } {
    const cgroup = this.#enterNewGroup();
    if (cgroup === null) return { started: start(), cgroup };
    let started: Started;
    try {
      started = start();
    } catch (error) {
      this.#leave(cgroup);
      this.#remove(cgroup);
      throw error;
    }
    this.#leave(cgroup);
    return { started, cgroup };
  }

  /** Call it when the child has been reaped; the group stays for as long as the child left somebody in it. */
  reapedLeader(cgroup: ProcessCgroup): void {
    if (!this.#keepAsSpare(cgroup) && !this.#remove(cgroup)) this.#sweep.add(cgroup);
  }

  /** Kills whoever is left, and removes everything. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#usable = false;
    this.#spares.close();
    this.#sweep.close();
    if (this.#groups.size > 0) await killCgroups([...this.#groups]);
    for (const cgroup of this.#groups) this.#remove(cgroup);
    removeGroup(this.path);
    closeSync(this.#ownGroup);
  }

  /** A group can be made and yet not be entered, as where this process may not write to its own. */
  #tryOut(): void {
    enterGroup(this.path);
    moveThisThread(this.#ownGroup);
  }

  #enterNewGroup(): ProcessCgroup | null {
    if (!this.#usable) return null;
    try {
      const cgroup = new ProcessCgroup(this.#spares.enter());
      this.#groups.add(cgroup);
      return cgroup;
    } catch (error) {
      this.#warnOnce(error);
      return null;
    }
  }

  #chooseGroupPath(): string {
    this.#groupsMade += 1;
    return join(this.path, String(this.#groupsMade));
  }

  /** It may be for want of descriptors or memory, so the next process may have one again. */
  #warnOnce(error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#logger.warn(
      { error },
      'a process has no cgroup: daemons that it leaves are found by their marks, which they can shed',
    );
  }

  #leave(cgroup: ProcessCgroup): void {
    try {
      moveThisThread(this.#ownGroup);
    } catch (error) {
      this.#usable = false;
      cgroup.abandon();
      this.#logger.warn({ error }, 'cannot leave the cgroup of a process: cgroups are not used any more');
    }
  }

  #keepAsSpare(cgroup: ProcessCgroup): boolean {
    // One that this process could not leave is never empty, and one that is closed has no use for spares.
    if (!this.#usable || !this.#spares.offer(cgroup.path)) return false;
    this.#groups.delete(cgroup);
    cgroup.handOver();
    return true;
  }

  #remove(cgroup: ProcessCgroup): boolean {
    const removed = cgroup.removeIfEmpty();
    if (removed) this.#groups.delete(cgroup);
    return removed;
  }
}

/** Whether processes started here can have cgroups of their own, and in which one these are made. */
export type CgroupSupport =
  | { readonly usable: true; readonly directory: string }
  | { readonly usable: false; readonly reason: string };

/** Finds out by making a cgroup, which is removed again. */
export function probeCgroups(logger: Logger = silentLogger): CgroupSupport {
  try {
    const home = new CgroupHome(logger);
    void home.close();
    return { usable: true, directory: dirname(home.path) };
  } catch (error) {
    return { usable: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

function findPopulated(cgroups: readonly ProcessCgroup[]): ReadonlySet<ProcessCgroup> {
  return new Set(cgroups.filter(({ populated }) => populated));
}

/** Removes what servers left that were killed together with their guardians. Nobody is killed for it. */
function removeAbandonedHomes(parent: string): void {
  for (const path of listGroups(parent)) {
    const [, pid, startTime] = basename(path).match(HOME_NAME) ?? [];
    if (pid !== undefined && !isRunning(Number(pid), Number(startTime))) removeGroup(path);
  }
}

function isRunning(pid: number, startTime: number): boolean {
  try {
    return readProcess(pid)?.startTime === startTime;
  } catch {
    // Another user's, and hidden.
    return true;
  }
}
