import { MAX_CHANGES_PER_NOTIFICATION } from '@exec-server/protocol';
import type { Clock, ClockTimer } from '../../clock.js';
import type { ConnectionScope } from '../../dialects/dialect.js';
import type { BytePath } from './byte-path.js';

/**
 * What became of a path. `created`: something new is there, and nothing that was known about the path, or about paths
 * below it, holds any more. `removed`: nothing is there, or below. `overflow`: anything may have happened, here or
 * below; who needs to know looks for himself.
 */
export type ChangeKind = 'created' | 'modified' | 'removed' | 'overflow';

export interface FileChange {
  readonly path: BytePath;
  readonly kind: ChangeKind;
}

/** How long changes are gathered before they are sent unless the watch says otherwise, in milliseconds. */
export const GATHER_MS = 50;

export interface ChangeQueueOptions {
  /** What an overflow is reported of. */
  readonly root: BytePath;
  /** Most paths that wait to be sent; one more makes them one overflow. */
  readonly limit: number;
  readonly clock: Clock;
  /** How long changes are gathered before they are sent, in milliseconds. @default {@link GATHER_MS} */
  readonly gatherMs?: number | undefined;
  /** Report also what changed below a directory that is new or gone. @default false, as it says nothing more */
  readonly keepsBelow?: boolean | undefined;
  readonly connection: Pick<ConnectionScope, 'writable' | 'whenWritable'>;
  readonly send: (changes: readonly FileChange[]) => void;
}

/**
 * Changes of one watch on their way to the client. They are gathered for a moment, and for longer while the client is
 * behind in reading; each path is reported once, as what became of it last.
 */
export class ChangeQueue {
  readonly #options: ChangeQueueOptions;
  readonly #pending = new Map<BytePath, ChangeKind>();
  #timer: ClockTimer | undefined;
  #overflown = false;
  #sending = false;
  #closed = false;

  constructor(options: ChangeQueueOptions) {
    this.#options = options;
  }

  /** `isDirectory` when there may be changes below the path that this one makes meaningless. */
  add(path: BytePath, kind: Exclude<ChangeKind, 'overflow'>, isDirectory: boolean): void {
    // What happens before the overflow is sent is part of it.
    if (this.#closed || this.#overflown) return;
    // Something new that changes is still new, and keeps its place before what was found in it.
    if (kind === 'modified' && this.#pending.get(path) === 'created') return;
    if (kind !== 'modified' && isDirectory && !this.#options.keepsBelow) this.#forgetBelow(path);
    this.#pending.delete(path);
    this.#pending.set(path, kind);
    if (this.#pending.size > this.#options.limit) this.overflow();
    else this.#sendSoon();
  }

  overflow(): void {
    if (this.#closed || this.#overflown) return;
    this.#overflown = true;
    this.#pending.clear();
    this.#pending.set(this.#options.root, 'overflow');
    this.#sendSoon();
  }

  close(): void {
    this.#closed = true;
    this.#pending.clear();
    this.#timer?.cancel();
  }

  #forgetBelow(path: BytePath): void {
    const prefix = path.endsWith('/') ? path : `${path}/`;
    for (const below of this.#pending.keys()) if (below.startsWith(prefix)) this.#pending.delete(below);
  }

  #sendSoon(): void {
    if (this.#sending || this.#timer !== undefined) return;
    this.#timer = this.#options.clock.after(this.#options.gatherMs ?? GATHER_MS, () => {
      this.#timer = undefined;
      void this.#sendAll();
    });
  }

  async #sendAll(): Promise<void> {
    const { connection, send } = this.#options;
    this.#sending = true;
    while (this.#pending.size > 0) {
      if (!connection.writable) {
        await connection.whenWritable();
        // Others wait, too, and may have filled the queue again.
        continue;
      }
      send(this.#take());
    }
    this.#sending = false;
  }

  #take(): FileChange[] {
    const changes: FileChange[] = [];
    for (const [path, kind] of this.#pending) {
      if (changes.length === MAX_CHANGES_PER_NOTIFICATION) break;
      changes.push({ path, kind });
      this.#pending.delete(path);
    }
    this.#overflown = false;
    return changes;
  }
}
