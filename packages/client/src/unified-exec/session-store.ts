import { MAX_SESSION_ID, MAX_SESSIONS, MIN_SESSION_ID, PROTECTED_SESSIONS } from './limits.js';

/** What the choice of a session to end depends on. */
export interface StoredSession {
  readonly sessionId: number;
  readonly hasExited: boolean;
  /** Whether a call is in progress. */
  readonly isBusy: boolean;
}

/** The sessions by their ids, and a bounded number of them. */
export class SessionStore<Session extends StoredSession> {
  /** The one that was used longest ago first. */
  readonly #sessions = new Map<number, Session>();
  readonly #reservedIds = new Set<number>();

  /** An id that no session has. It stays taken until it is released, or its session removed. */
  reserveId(): number {
    let id: number;
    do id = MIN_SESSION_ID + Math.floor(Math.random() * (MAX_SESSION_ID - MIN_SESSION_ID + 1));
    while (this.#reservedIds.has(id));
    this.#reservedIds.add(id);
    return id;
  }

  releaseId(id: number): void {
    this.#reservedIds.delete(id);
  }

  get(sessionId: number): Session | undefined {
    return this.#sessions.get(sessionId);
  }

  list(): readonly Session[] {
    return [...this.#sessions.values()];
  }

  /** Adds a session, as the one that was used last. Returns those that had to make room; they are to be ended. */
  add(session: Session): readonly Session[] {
    const removed: Session[] = [];
    while (this.#sessions.size >= MAX_SESSIONS) {
      const victim = this.#chooseVictim();
      if (victim === undefined) break;
      this.remove(victim);
      removed.push(victim);
    }
    this.#sessions.set(session.sessionId, session);
    return removed;
  }

  /** Notes that a session is used. */
  touch(session: Session): void {
    this.#sessions.delete(session.sessionId);
    this.#sessions.set(session.sessionId, session);
  }

  remove({ sessionId }: StoredSession): void {
    this.#sessions.delete(sessionId);
    this.#reservedIds.delete(sessionId);
  }

  /** The one that was used longest ago of those that have exited, or of all where none has. */
  #chooseVictim(): Session | undefined {
    const unprotected = this.list().slice(0, -PROTECTED_SESSIONS);
    const exited = unprotected.filter(({ hasExited }) => hasExited);
    // One that has exited and is busy goes soon; no living one has to die for it.
    const candidates = exited.length > 0 ? exited : unprotected;
    return candidates.find(({ isBusy }) => !isBusy);
  }
}
