import { internalError, nativeToPathUri } from '@exec-server/protocol';
import type { ClockTimer } from '../../clock.js';
import type { FileAccess } from '../../connection/file-order.js';
import type { OpenMode } from '../../fs/handles-file.js';
import { type Principal, principalKey } from '../../listen/principal.js';
import { type ResolvedPolicy, sandboxKey } from '../policy/policy.js';
import { ConfinedFile } from './confined-file.js';
import { type CallOptions, FileHelper, type FileHelperOptions, type HelperAnswer } from './file-helper.js';
import { FileMethod } from './frames.js';
import { SandboxView } from './view.js';

/**
 * Helpers that run at once. When one more is needed, one that is idle goes. A principal has at most half of those that
 * others do not use, so that something is left for the next one, whatever it holds on to.
 */
export const MAX_HELPERS = 32;
/** How long an idle helper is kept, in milliseconds. */
export const HELPER_IDLE_MS = 60_000;
/** The same for one that leaves something on disk for as long as it runs. */
export const TRACED_HELPER_IDLE_MS = 2_000;
/** Sandboxes that are made for one call, when files keep changing under them. */
const MAX_ATTEMPTS = 5;

/** A call, and whom it is for. */
export interface HelperUse extends CallOptions {
  readonly principal: Principal;
}

/** A running helper. */
interface Slot {
  /** Whom it works for. */
  readonly owner: string;
  readonly helper: FileHelper;
  /** What its sandbox looked like when it was made. */
  readonly view: SandboxView;
  /** Calls that it works on, and files that it has open. */
  uses: number;
  /** Whether it is left to those who use it now. */
  retired: boolean;
  idleTimer: ClockTimer | undefined;
}

/** What a helper is wanted for. */
interface Want {
  readonly key: string;
  readonly owner: string;
  readonly files: ResolvedPolicy['files'];
  readonly access: FileAccess;
}

/**
 * The helpers that do file operations under policies: one for each principal, policy and kind of access, made when it is
 * needed. Whoever asks a helper for `/proc/self/fd` finds what it has open, which is nobody else's business.
 */
export class FileSandboxes {
  /** Those that are given out, in the order of their last use. */
  readonly #slots = new Map<string, Slot>();
  readonly #making = new Map<string, { readonly owner: string; readonly done: Promise<void> }>();
  /** Everything that runs and is not being ended. */
  readonly #live = new Set<Slot>();
  readonly #endings = new Set<Promise<void>>();
  #closed = false;

  constructor(private readonly options: FileHelperOptions) {}

  /**
   * Has a helper do something under a policy. Throws `PolicyError` when the policy cannot be kept, and the helper's
   * `RpcError`.
   */
  run(
    files: ResolvedPolicy['files'],
    access: FileAccess,
    call: { readonly method: string; readonly params: unknown },
    use: HelperUse,
  ): Promise<HelperAnswer> {
    return this.#use(files, access, use, ({ helper }) => helper.call(call.method, call.params, use));
  }

  /** Opens a file that stays open in its helper, also when the sandbox is stale for everybody else. */
  openFile(
    files: ResolvedPolicy['files'],
    path: Buffer,
    mode: OpenMode,
    use: HelperUse,
  ): Promise<ConfinedFile> {
    return this.#use(files, mode === 'read' ? 'reads' : 'changes', use, async (slot) => {
      const params = { path: nativeToPathUri(path), mode };
      const answer = await slot.helper.call(FileMethod.open, params, use);
      const opened = (answer.kind === 'result' ? answer.value : {}) as { file: number; identity: string };
      slot.uses++;
      return new ConfinedFile(slot.helper, opened.file, opened.identity, () => this.#release(slot));
    });
  }

  /** Ends all helpers. Whoever waits for one is told that it is gone. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(Array.from(this.#making.values(), ({ done }) => done));
    for (const slot of this.#live) void this.#end(slot);
    await Promise.all(this.#endings);
  }

  async #use<T>(
    files: ResolvedPolicy['files'],
    access: FileAccess,
    { principal }: HelperUse,
    use: (slot: Slot) => Promise<T>,
  ): Promise<T> {
    const owner = principalKey(principal);
    const key = `${owner} ${access} ${await sandboxKey({ files, network: 'restricted' })}`;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const slot = await this.#take({ key, owner, files, access });
      try {
        const answer = await use(slot);
        // What a mount hides may have been replaced while it was read, and the mount have gone with it.
        if (access === 'changes' || (await slot.view.stillHolds())) return answer;
        if (answer instanceof ConfinedFile) await answer.close();
      } finally {
        this.#release(slot);
      }
    }
    throw keepChanging();
  }

  /** A helper whose sandbox is what a new one would be. It is in use until it is released. */
  async #take(want: Want): Promise<Slot> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const view = await SandboxView.look(want.files, want.access);
      const slot = this.#find(want.key, view);
      if (slot !== undefined) return slot;
      await (this.#making.get(want.key)?.done ?? this.#make(want, view));
    }
    throw keepChanging();
  }

  #find(key: string, view: SandboxView): Slot | undefined {
    const slot = this.#slots.get(key);
    if (slot === undefined) return undefined;
    this.#slots.delete(key);
    if (slot.helper.isGone || !slot.view.equals(view)) {
      this.#retire(slot);
      return undefined;
    }
    this.#slots.set(key, slot);
    slot.uses++;
    slot.idleTimer?.cancel();
    return slot;
  }

  #make(want: Want, view: SandboxView): Promise<void> {
    const done = this.#start(want, view).finally(() => this.#making.delete(want.key));
    this.#making.set(want.key, { owner: want.owner, done });
    return done;
  }

  async #start({ key, owner, files, access }: Want, before: SandboxView): Promise<void> {
    if (this.#closed) throw internalError('the server is shutting down', 'shutting_down');
    this.#makeRoomFor(owner);
    const helper = await FileHelper.start(files, access, this.options);
    const view = await SandboxView.look(files, access).catch(async (error: unknown) => {
      await helper.end();
      throw error;
    });
    const slot: Slot = { owner, helper, view, uses: 0, retired: false, idleTimer: undefined };
    this.#live.add(slot);
    void helper.ended.then(() => this.#live.delete(slot));
    // Otherwise it may be anything between the two.
    if (!before.becomes(view)) {
      await this.#end(slot);
      return;
    }
    this.#slots.set(key, slot);
    this.#awaitUse(slot);
  }

  #makeRoomFor(owner: string): void {
    const making = [...this.#making.values()];
    const live = [...this.#live];
    const own = [...making, ...live].filter((one) => one.owner === owner).length;
    const ofOthers =
      making.filter((one) => one.owner !== owner).length +
      live.filter((slot) => slot.owner !== owner && slot.uses > 0).length;
    const share = Math.ceil((MAX_HELPERS - ofOthers) / 2);
    if (own >= share) {
      if (!this.#retireIdle((slot) => slot.owner === owner))
        throw internalError(
          `at most ${share} file system sandboxes may be in use by one principal at once, while others use ${ofOthers} of ${MAX_HELPERS}; close files that are open under other sandbox contexts, or try again`,
          'limit_reached',
        );
    } else if (live.length + making.length >= MAX_HELPERS) this.#retireIdle(() => true);
  }

  /** Ends the helper that is idle for longest, of some. */
  #retireIdle(isMeant: (slot: Slot) => boolean): boolean {
    const idle = [...this.#slots].find(([, slot]) => slot.uses === 0 && isMeant(slot));
    if (idle === undefined) return false;
    this.#slots.delete(idle[0]);
    this.#retire(idle[1]);
    return true;
  }

  #release(slot: Slot): void {
    slot.uses--;
    if (slot.uses > 0) return;
    if (slot.retired) void this.#end(slot);
    else this.#awaitUse(slot);
  }

  #awaitUse(slot: Slot): void {
    const idleMs = slot.view.leavesTraces ? TRACED_HELPER_IDLE_MS : HELPER_IDLE_MS;
    slot.idleTimer = this.options.clock.after(idleMs, () => {
      for (const [key, other] of this.#slots) if (other === slot) this.#slots.delete(key);
      this.#retire(slot);
    });
  }

  #retire(slot: Slot): void {
    slot.retired = true;
    slot.idleTimer?.cancel();
    if (slot.uses === 0) void this.#end(slot);
  }

  async #end(slot: Slot): Promise<void> {
    if (!this.#live.delete(slot)) return;
    slot.idleTimer?.cancel();
    const ending = slot.helper.end().finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
    await ending;
  }
}

function keepChanging(): Error {
  return internalError('what the sandbox of this request consists of keeps changing');
}
