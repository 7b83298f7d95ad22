import type { FsChangedNotification } from '@exec-server/protocol';
import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import { checkOptions } from '../check-options.js';
import { createRandomId } from '../random-id.js';
import { requireCapability } from '../require-capability.js';
import type { SessionClient } from '../session-client.js';
import { explainFailure } from './file-system-error.js';
import { toNativeText } from './remote-path.js';

/** Most changes that wait for who listens; more of them become one `overflow`. */
export const MAX_QUEUED_CHANGES = 8192;

/** Options of `watch`. */
export interface WatchOptions {
  /** Watch the directories below, too. @default false */
  readonly recursive?: boolean;
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
}

/** Something that happened to a file. */
export interface FileChange {
  /**
   * `created`: something new is there, and nothing known of paths below it holds any more. `modified`: content or
   * attributes changed. `removed`: nothing is there, or below. `overflow`: anything may have happened, here or below,
   * because changes came too fast or the connection was lost for a while: list and read again.
   */
  readonly type: 'created' | 'modified' | 'removed' | 'overflow';
  /** Native path, spelled as the watched path and what is below it. */
  readonly path: string;
}

/** The changes of a watched path, from when it was armed. Iterate once. */
export interface FileWatch extends AsyncIterableIterator<FileChange> {
  /** Resolves once everything is watched: what changes from then on is reported. Rejects where it cannot be watched. */
  readonly armed: Promise<void>;
  next(): Promise<IteratorResult<FileChange, undefined>>;
  return(): Promise<IteratorResult<FileChange, undefined>>;
}

/**
 * Watches a path, at once and not only with the first iteration. After a lost connection it is watched again on the
 * next one, and an `overflow` tells that changes may have been missed; where there is no next one, the iteration throws.
 */
export function watchPath(client: SessionClient, uri: string, options: WatchOptions = {}): FileWatch {
  checkOptions('watch', options, ['recursive', 'signal']);
  return new PathWatch(client, uri, options);
}

type Waiter = (result: Promise<IteratorResult<FileChange, undefined>>) => void;

class PathWatch implements FileWatch {
  readonly armed: Promise<void>;
  readonly #client: SessionClient;
  readonly #uri: string;
  readonly #path: string;
  readonly #recursive: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #stops: (() => void)[] = [];
  #watchId = '';
  #isArming = false;
  #queue: FileChange[] = [];
  #waiters: Waiter[] = [];
  #end: { readonly error?: unknown } | undefined;

  constructor(client: SessionClient, uri: string, { recursive = false, signal }: WatchOptions) {
    this.#client = client;
    this.#uri = uri;
    this.#path = toNativeText(uri);
    this.#recursive = recursive;
    this.#signal = signal;
    this.armed = this.#start();
    // Who iterates is told, too.
    this.armed.catch(() => {});
  }

  next(): Promise<IteratorResult<FileChange, undefined>> {
    const change = this.#queue.shift();
    if (change !== undefined) return Promise.resolve({ done: false, value: change });
    if (this.#end !== undefined) return this.#takeEnd();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  return(): Promise<IteratorResult<FileChange, undefined>> {
    this.#queue = [];
    this.#finish({});
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #start(): Promise<void> {
    const signal = this.#signal;
    try {
      signal?.throwIfAborted();
      const stop = () => this.#finish({});
      addAbortListener(signal, stop);
      this.#stops.push(() => removeAbortListener(signal, stop));
      await requireCapability(this.#client, 'fsWatch');
      await this.#client.ready(signal);
      this.#stops.push(this.#client.on('fs/changed', (changed) => this.#take(changed)));
      this.#stops.push(this.#client.onLoss(() => void this.#rearm()));
      this.#stops.push(this.#client.onOver((error) => this.#finish({ error })));
      await this.#arm();
      signal?.throwIfAborted();
    } catch (error) {
      this.#finish(signal?.aborted ? {} : { error });
      throw error;
    }
  }

  /** Under an id of its own each time: what still comes for an older one is not for this one. */
  async #arm(): Promise<void> {
    this.#isArming = true;
    this.#watchId = createRandomId();
    const params = { watchId: this.#watchId, path: this.#uri, recursive: this.#recursive };
    // Sent again where the connection is lost meanwhile: a watch that was set there is gone with it.
    const call = this.#client.call('fs/watch', params, {
      resend: true,
      ...(this.#signal && { signal: this.#signal }),
    });
    try {
      await explainFailure(call, { operation: 'watch', path: this.#path });
    } finally {
      this.#isArming = false;
    }
  }

  async #rearm(): Promise<void> {
    if (this.#end !== undefined || this.#isArming) return;
    try {
      await this.#arm();
      this.#push({ type: 'overflow', path: this.#path });
    } catch (error) {
      this.#finish({ error });
    }
  }

  #take({ watchId, changes }: FsChangedNotification): void {
    if (watchId !== this.#watchId) return;
    for (const { path, kind } of changes) this.#push({ type: kind, path: toNativeText(path) });
  }

  #push(change: FileChange): void {
    if (this.#end !== undefined) return;
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) waiter(Promise.resolve({ done: false, value: change }));
    else if (this.#queue.length < MAX_QUEUED_CHANGES) this.#queue.push(change);
    else this.#queue = [{ type: 'overflow', path: this.#path }];
  }

  #finish(end: { readonly error?: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    for (const stop of this.#stops.splice(0)) stop();
    void this.#disarm();
    for (const waiter of this.#waiters.splice(0)) waiter(this.#takeEnd());
  }

  async #disarm(): Promise<void> {
    if (this.#watchId === '') return;
    try {
      await this.#client.call('fs/unwatch', { watchId: this.#watchId }, { resend: false });
    } catch {
      // A connection that is gone takes its watches along.
    }
  }

  /** A failure is told once; behind it the iteration is just over. */
  #takeEnd(): Promise<IteratorResult<FileChange, undefined>> {
    const end = this.#end;
    this.#end = {};
    if (end !== undefined && 'error' in end) return Promise.reject(end.error);
    return Promise.resolve({ done: true, value: undefined });
  }
}
