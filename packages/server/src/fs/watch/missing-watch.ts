import { MAX_WATCHED_PATHS } from '@exec-server/protocol';
import type { ConnectionResource, ConnectionScope } from '../../dialects/dialect.js';
import { type BytePath, toBytePath, toPathBytes } from './byte-path.js';
import { DirectoryHub } from './directory-hub.js';
import type { DirectoryWatch } from './directory-source.js';
import { reportsChanges } from './file-systems.js';
import { PathChain } from './path-chain.js';

/** What a client takes for granted until it is told otherwise. Native paths. */
export interface Assumption {
  /** Paths at which there is nothing. */
  readonly missing: readonly Uint8Array[];
  /** A path at which there is something, unchanged. */
  readonly present: Uint8Array | undefined;
}

/**
 * The one watch of a connection that says when an assumption about files ceases to hold. It says so once, and rather
 * once too often than not at all.
 */
export class MissingWatch implements ConnectionResource {
  readonly #hub: DirectoryHub;
  #lastId = 0;
  #current: AssumptionWatch | undefined;
  #closed = false;

  constructor(connection: ConnectionScope) {
    this.#hub = connection.keep(DirectoryHub);
  }

  /**
   * Replaces the watch. False when `id` is not greater than all before it, and when the assumption does not hold or
   * cannot be watched; without an assumption nothing is watched. `onBroken` is called at most once, after this resolves.
   */
  async replace(id: number, assumption: Assumption | undefined, onBroken: () => void): Promise<boolean> {
    if (id <= this.#lastId || this.#closed) return false;
    this.#lastId = id;
    this.#current?.close();
    this.#current = undefined;
    if (assumption === undefined || !isWatchable(assumption)) return false;
    const watch = new AssumptionWatch(this.#hub, () => {
      if (this.#current !== watch) return;
      this.#current = undefined;
      onBroken();
    });
    this.#current = watch;
    if ((await watch.holds(assumption)) && this.#current === watch) {
      watch.arm();
      return true;
    }
    watch.close();
    if (this.#current === watch) this.#current = undefined;
    return false;
  }

  close(): void {
    this.#closed = true;
    this.#current?.close();
    this.#current = undefined;
  }
}

function isWatchable({ missing }: Assumption): boolean {
  return missing.length > 0 && missing.length <= MAX_WATCHED_PATHS;
}

/** The watch of one assumption. */
class AssumptionWatch {
  readonly #chains: PathChain[] = [];
  readonly #reliable = new Map<BytePath, boolean>();
  readonly #overflow: DirectoryWatch;
  readonly #onBroken: () => void;
  #state: 'checking' | 'armed' | 'over' = 'checking';
  #brokenMeanwhile = false;

  constructor(
    private readonly hub: DirectoryHub,
    onBroken: () => void,
  ) {
    this.#onBroken = onBroken;
    this.#overflow = hub.onOverflow(() => this.#break());
  }

  /** Whether everything is as assumed and can be watched. */
  async holds({ missing, present }: Assumption): Promise<boolean> {
    try {
      for (const path of new Set(missing.map(toBytePath))) {
        const chain = await this.#follow(path);
        if (chain === undefined || chain.target !== undefined || chain.gap !== 'missing') return false;
      }
      return present === undefined || (await this.#follow(toBytePath(present)))?.target !== undefined;
    } catch {
      // Whatever keeps it from being watched, the client goes without.
      return false;
    }
  }

  /** What happened while it was checked is told now, but after the answer. */
  arm(): void {
    this.#state = 'armed';
    if (this.#brokenMeanwhile) setImmediate(() => this.#break());
  }

  close(): void {
    this.#state = 'over';
    this.#overflow.close();
    for (const chain of this.#chains) chain.close();
  }

  /** The watched path, unless a part of it is beyond watching: a link may lead to where changes are not seen. */
  async #follow(path: BytePath): Promise<PathChain | undefined> {
    const chain = new PathChain(this.hub, path, {
      // That somebody only closed a file which was open for writing is no change.
      onStep: ({ kind }) => kind !== 'closed' && this.#break(),
      onLost: () => this.#break(),
    });
    this.#chains.push(chain);
    await chain.follow();
    if (this.#state === 'over' || chain.hasLinks || chain.blind) return undefined;
    for (const directory of chain.directories) if (!(await this.#isReliable(directory))) return undefined;
    return chain;
  }

  async #isReliable(directory: BytePath): Promise<boolean> {
    const known = this.#reliable.get(directory);
    if (known !== undefined) return known;
    const reliable = await reportsChanges(toPathBytes(directory));
    this.#reliable.set(directory, reliable);
    return reliable;
  }

  #break(): void {
    if (this.#state === 'checking') this.#brokenMeanwhile = true;
    if (this.#state !== 'armed') return;
    this.close();
    this.#onBroken();
  }
}
