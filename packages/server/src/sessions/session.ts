import type {
  NetworkPolicyDecisionNotification,
  NetworkPolicyRequestParams,
  RequestId,
} from '@exec-server/protocol';
import type { CallOptions } from '@exec-server/rpc';
import { KeptFileHandles } from '../fs/handles.js';
import type { Principal } from '../listen/principal.js';
import type { OutputSink } from '../output/output-sink.js';
import type { ManagedProcess } from '../process/managed-process.js';
import type { TreeRoot } from '../terminate/kill-trees.js';

/** What became of a start. It has no number: the events of a process begin after it. */
export type LifecycleEvent =
  | { readonly kind: 'started'; readonly processId: string; readonly pid: number }
  | {
      readonly kind: 'failed';
      readonly processId: string;
      /** Whether another start may have the id. */
      readonly processIdFree: boolean;
      /** The request, and the connection that it came from: ids mean nothing on another one. */
      readonly request: { readonly id: RequestId; readonly connection: object };
      readonly message: string;
    };

/** Somebody who decides where processes may connect. */
export interface NetworkAuthority {
  /** Asks whether a process may connect. Rejects when no answer comes. */
  ask(question: NetworkPolicyRequestParams, options: CallOptions): Promise<unknown>;
  /** Tells what was decided, as far as there is room. */
  tell(decision: NetworkPolicyDecisionNotification): void;
}

/** The connection behind an owner, as far as another one that wants its session is concerned. */
export interface SessionHolder {
  /** Whether the client gives a sign of life within the time for one, or cannot be asked for any. */
  showsLife(): Promise<boolean>;
  /** Ends the connection, whose requests come to nothing from here on. */
  revoke(reason: string): void;
}

/** The connection that a session is attached to: it gets the events of the session's processes. */
export interface SessionOwner {
  /** Where the connection comes from, for the audit log. */
  readonly remote: string;
  createSink(processId: string): OutputSink;
  /** Tells the client what became of a start, if it wants to know. */
  announce(event: LifecycleEvent): void;
  /** Decides where processes may connect; absent for clients that decide nothing. */
  readonly network?: NetworkAuthority;
  /** Absent where nobody can take the session over. */
  readonly holder?: SessionHolder | undefined;
  /** Whether the connection has ended, so that nothing may be attached to it. */
  readonly isGone: boolean;
}

/** What a client has running here; outlives the client's connection for a while. */
export class Session {
  /** What was started for the session and is not known to be gone; a finished process may have left others behind. */
  readonly trees: Set<TreeRoot> = new Set();
  /** Processes that wait for a reader of this session, and how each is let go on. */
  readonly #held = new Map<ManagedProcess, () => void>();
  #isOver = false;
  /** Its client will not come back. */
  endsWithConnection = false;
  #owner: SessionOwner | undefined;
  #lastRemote = '';
  #files: KeptFileHandles | undefined;

  constructor(
    readonly id: string,
    /** Whom the credential that opened it names; nobody else can resume it. */
    readonly principal: Principal,
    private readonly processes: () => Iterable<ManagedProcess>,
  ) {}

  get attached(): boolean {
    return this.#owner !== undefined;
  }

  /** The other end of the newest connection, attached or not. */
  get remote(): string {
    return this.#lastRemote;
  }

  /** Who decides where processes may connect, as long as somebody is attached who does. */
  get network(): NetworkAuthority | undefined {
    return this.#owner?.network;
  }

  get owner(): SessionOwner | undefined {
    return this.#owner;
  }

  /** Files that stay open over reconnects. */
  get files(): KeptFileHandles {
    this.#files ??= new KeptFileHandles();
    return this.#files;
  }

  isOwnedBy(owner: SessionOwner): boolean {
    return this.#owner === owner;
  }

  /** Events go to `owner` from here on. What happened before is read from the log. */
  attach(owner: SessionOwner): void {
    this.#owner = owner;
    this.#lastRemote = owner.remote;
    for (const process of this.processes()) this.adopt(process);
  }

  /** Nobody listens from here on; the processes run on. */
  detach(): void {
    this.#owner = undefined;
    for (const process of this.processes()) process.setOwner(undefined);
  }

  /** Gives up what nobody can come back to. */
  end(): void {
    this.detach();
    this.#isOver = true;
    // Its readers are gone for good: what is kept alive goes on into its log.
    for (const process of Array.from(this.#held.keys())) this.release(process);
    // Made even where there is none yet: a request that is under way may open one.
    this.files.close();
  }

  /** Has a process wait for a reader of this session, over reconnects, until it is released or the session ends. */
  hold(process: ManagedProcess): void {
    if (this.#isOver || process.closed || this.#held.has(process)) return;
    this.#held.set(
      process,
      process.hold(() => this.#held.delete(process)),
    );
  }

  /** Lets a process go on that waits for a reader of this session. */
  release(process: ManagedProcess): void {
    this.#held.get(process)?.();
    this.#held.delete(process);
  }

  /** Answers for a new tree of processes until nothing of it is left. */
  answerFor(tree: TreeRoot & { readonly gone: Promise<void> }): void {
    this.trees.add(tree);
    void tree.gone.then(() => this.trees.delete(tree));
  }

  /** Tells whoever is attached what became of a start. */
  announce(event: LifecycleEvent): void {
    this.#owner?.announce(event);
  }

  /** Sends a process's events to whoever is attached. */
  adopt(process: ManagedProcess): void {
    process.setOwner(this.#owner?.createSink(process.id));
  }
}
