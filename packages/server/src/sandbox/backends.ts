import {
  BACKEND_NAMES,
  type BackendChoice,
  type BackendName,
  type ConfineOptions,
  type SandboxBackend,
  type Trial,
} from './backend.js';
import { BubblewrapBackend } from './bubblewrap/bubblewrap-backend.js';
import { HelperBackend } from './helper/helper-backend.js';
import { LandlockBackend } from './landlock/landlock-backend.js';
import type { ResolvedPolicy } from './policy/policy.js';
import { unenforceable } from './policy/policy-error.js';

/**
 * What this program confines others with. They are tried in this order: the helper comes first because it depends on
 * nothing that is installed, starts faster, tells the exact end of a program, and follows no link while it mounts;
 * bubblewrap may be allowed what this program is not; Landlock keeps the fewest policies.
 */
const BACKENDS: Readonly<Record<BackendName, SandboxBackend>> = {
  helper: new HelperBackend(),
  bubblewrap: new BubblewrapBackend(),
  landlock: new LandlockBackend(),
};

/** Trials that worked, or are being made. One that failed is made anew, so that an installation counts without a restart. */
const trials = new Map<BackendName, Promise<Trial>>();

/** Those that are known to work. */
const working = new Set<BackendName>();

function tryBackend(name: BackendName): Promise<Trial> {
  const known = trials.get(name);
  if (known !== undefined) return known;
  const trial = BACKENDS[name].probe().catch(
    (error: unknown): Trial => ({
      works: false,
      reason: error instanceof Error ? error.message : String(error),
    }),
  );
  trials.set(name, trial);
  void trial.then(({ works }) => {
    if (works) working.add(name);
    else trials.delete(name);
  });
  return trial;
}

/** A way to confine programs, and whether it works here, for people. */
export type BackendDescription = { readonly name: BackendName; readonly makesViews: boolean } & Trial;

/** Tries all of them. */
export function describeBackends(): Promise<BackendDescription[]> {
  return Promise.all(
    BACKEND_NAMES.map(async (name) => ({
      name,
      makesViews: BACKENDS[name].makesViews,
      ...(await tryBackend(name)),
    })),
  );
}

/** What one server may confine programs with. */
export class SandboxBackends {
  /** Resolves when it is known what works. Never rejects. */
  readonly ready: Promise<void>;
  readonly #candidates: readonly BackendName[];
  #makesViews: boolean;
  #isReady: boolean;

  constructor(private readonly choice: BackendChoice = 'auto') {
    this.#candidates = choice === 'auto' ? BACKEND_NAMES : BACKEND_NAMES.filter((name) => name === choice);
    const viewers = this.#candidates.filter((name) => BACKENDS[name].makesViews);
    this.#makesViews = viewers.some((name) => working.has(name));
    this.#isReady = this.#makesViews || viewers.length === 0;
    this.ready = this.#isReady ? Promise.resolve() : this.#prepare(viewers);
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether programs can be confined to what their rules say; known when it is ready. */
  get makesViews(): boolean {
    return this.#makesViews;
  }

  /** Whether one that can keep a policy is known to work. Otherwise `choose` has the last word. */
  surelyKeeps(policy: ResolvedPolicy): boolean {
    return this.#candidates.some((name) => working.has(name) && BACKENDS[name].canKeep(policy, {}).keeps);
  }

  /** The first that works and can keep a policy. Throws `PolicyError` that says what each of them lacks. */
  async choose(policy: ResolvedPolicy, options: ConfineOptions = {}): Promise<SandboxBackend> {
    if (this.choice === 'none')
      throw unenforceable('this server confines nothing, because it was started with --sandbox-backend none');
    const obstacles: string[] = [];
    for (const name of this.#candidates) {
      const backend = BACKENDS[name];
      const verdict = backend.canKeep(policy, options);
      if (!verdict.keeps) {
        obstacles.push(`${name}: ${verdict.reason}`);
        continue;
      }
      const trial = await tryBackend(name);
      if (trial.works) return backend;
      obstacles.push(`${name}: ${trial.reason}${trial.hint === undefined ? '' : `; ${trial.hint}`}`);
    }
    throw unenforceable(obstacles.join('. '));
  }

  async #prepare(viewers: readonly BackendName[]): Promise<void> {
    for (const name of viewers) {
      this.#makesViews = (await tryBackend(name)).works;
      if (this.#makesViews) break;
    }
    this.#isReady = true;
  }
}
