import { isSamePrincipal, type Principal } from '../listen/principal.js';
import { OneTimeEvent } from '../one-time-event.js';
import { ForgottenIds } from './forgotten-ids.js';
import type { ManagedProcess } from './managed-process.js';

/** A process id that is taken: by a start under way or by a process. */
export class ProcessSlot {
  #process: ManagedProcess | undefined;
  readonly #settled = new OneTimeEvent();
  readonly #cancelled = new OneTimeEvent();

  constructor(
    readonly sessionId: string,
    /** Whose session it is: nobody else sees the process. */
    readonly principal: Principal,
    readonly processId: string,
    /** Name by which the principal starts it once. */
    readonly startKey?: string,
  ) {}

  /** Absent while the process is starting. */
  get process(): ManagedProcess | undefined {
    return this.#process;
  }

  /** Resolves when the start has succeeded or failed. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  started(process: ManagedProcess): void {
    this.#process = process;
    this.#settled.happen();
  }

  failed(): void {
    this.#settled.happen();
  }

  get isCancelled(): boolean {
    return this.#cancelled.happened;
  }

  /** Resolves when the start is no longer wanted; a start that is over takes no notice. */
  get cancelled(): Promise<void> {
    return this.#cancelled.promise;
  }

  /** Calls off a start under way. */
  cancel(): void {
    this.#cancelled.happen();
  }
}

/** The session that a process id is taken in. */
export interface SlotOwner {
  readonly id: string;
  readonly principal: Principal;
}

/** A process and the session that owns it. */
export interface RegisteredProcess {
  readonly sessionId: string;
  readonly process: ManagedProcess;
}

/** Every process of the server, under the session that owns it. */
export class ProcessRegistry {
  readonly #sessions = new Map<string, Map<string, ProcessSlot>>();
  /** Those whose process has not ended, forgotten or not, by session. */
  readonly #running = new Map<string, Set<ProcessSlot>>();
  /** Those that have a start key, by principal and key. */
  readonly #startKeys = new Map<string, ProcessSlot>();
  readonly #forgotten = new ForgottenIds();
  #runningCount = 0;

  /** Processes that run or are starting. */
  get runningCount(): number {
    return this.#runningCount;
  }

  /** The same of one session. */
  runningCountOf(sessionId: string): number {
    return this.#running.get(sessionId)?.size ?? 0;
  }

  /** The same of all sessions of a principal. */
  runningCountFor(principal: Principal): number {
    let count = 0;
    // A session has one principal.
    for (const slots of this.#running.values()) {
      const [first] = slots;
      if (first !== undefined && isSamePrincipal(first.principal, principal)) count += slots.size;
    }
    return count;
  }

  /** Takes an id and a start key, or answers nothing when the session uses the id already. */
  reserve(session: SlotOwner, processId: string, startKey?: string): ProcessSlot | undefined {
    const { id: sessionId, principal } = session;
    const slots = this.#sessions.get(sessionId) ?? new Map<string, ProcessSlot>();
    if (slots.has(processId)) return undefined;
    const slot = new ProcessSlot(sessionId, principal, processId, startKey);
    if (startKey !== undefined) this.#startKeys.set(nameOf(principal, startKey), slot);
    this.#sessions.set(sessionId, slots.set(processId, slot));
    this.#running.set(sessionId, (this.#running.get(sessionId) ?? new Set()).add(slot));
    this.#runningCount++;
    return slot;
  }

  find(sessionId: string, processId: string): ProcessSlot | undefined {
    return this.#sessions.get(sessionId)?.get(processId);
  }

  /** Who has a start key of a principal. */
  findByStartKey(principal: Principal, startKey: string): ProcessSlot | undefined {
    return this.#startKeys.get(nameOf(principal, startKey));
  }

  /** Whether a process of that principal had the id and is no longer known. */
  wasForgotten(principal: Principal, processId: string): boolean {
    return this.#forgotten.has(principal, processId);
  }

  /** Frees an id and a start key. Does nothing when it was freed before. */
  forget(slot: ProcessSlot): void {
    const slots = this.#sessions.get(slot.sessionId);
    if (slots?.get(slot.processId) !== slot) return;
    if (slot.process !== undefined) this.#forgotten.note(slot.principal, slot.processId);
    slots.delete(slot.processId);
    if (slot.startKey !== undefined) this.#startKeys.delete(nameOf(slot.principal, slot.startKey));
    if (slots.size === 0) this.#sessions.delete(slot.sessionId);
  }

  /** Notes that a process has ended or never was; its id may stay taken. Does nothing the second time. */
  noteEnded(slot: ProcessSlot): void {
    const slots = this.#running.get(slot.sessionId);
    if (!slots?.delete(slot)) return;
    this.#runningCount--;
    if (slots.size === 0) this.#running.delete(slot.sessionId);
  }

  ofSession(sessionId: string): readonly ProcessSlot[] {
    return [...(this.#sessions.get(sessionId)?.values() ?? [])];
  }

  /** The processes of a session, or of every session of a principal. */
  visibleTo(who: { readonly sessionId: string } | { readonly principal: Principal }): RegisteredProcess[] {
    const found: RegisteredProcess[] = [];
    for (const [sessionId, slots] of this.#sessions) {
      for (const { process, principal } of slots.values()) {
        const visible =
          'sessionId' in who ? who.sessionId === sessionId : isSamePrincipal(who.principal, principal);
        if (process !== undefined && visible) found.push({ sessionId, process });
      }
    }
    return found;
  }

  /** Every process that is not forgotten. */
  *processes(): Generator<ManagedProcess> {
    for (const slots of this.#sessions.values()) {
      for (const { process } of slots.values()) if (process !== undefined) yield process;
    }
  }
}

/** A start key with whose it is. */
function nameOf({ kind, subject }: Principal, startKey: string): string {
  return JSON.stringify([kind, subject, startKey]);
}
