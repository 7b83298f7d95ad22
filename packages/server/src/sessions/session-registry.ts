import { randomUUID } from 'node:crypto';
import type { Clock, ClockTimer } from '../clock.js';
import { isSamePrincipal, type Principal } from '../listen/principal.js';
import type { ProcessRegistry } from '../process/process-registry.js';
import type { Logger } from '../telemetry/logger.js';
import { Session, type SessionHolder, type SessionOwner } from './session.js';

/** A resume that cannot be: the id is unknown (or somebody else's), or another connection holds the session. */
export class ResumeError extends Error {
  override readonly name = 'ResumeError';
  constructor(
    readonly failure: 'unknown' | 'attached',
    id: string,
  ) {
    super(
      failure === 'unknown'
        ? `unknown session id ${id}`
        : `session ${id} is already attached to another connection`,
    );
  }
}

/** There are as many sessions as there may be, and each of them has a connection or a process. */
export class SessionLimitError extends Error {
  override readonly name = 'SessionLimitError';
  constructor(limit: number) {
    super(`the server has its limit of ${limit} sessions`);
  }
}

export interface SessionRegistryOptions {
  readonly clock: Clock;
  readonly processes: ProcessRegistry;
  /** How long a session without a connection is kept. */
  readonly detachedSessionMs: number;
  /** Sessions that there may be. */
  readonly maxSessions: number;
  readonly logger: Logger;
  /** Called for each new session. */
  onOpen(): void;
  /**
   * Ends everything that sessions own: `atOnce`, or in turns with everything else. Each is told once, after it can no
   * longer be resumed, together with others.
   */
  onEnd(sessions: readonly Session[], atOnce: boolean): void;
}

/** Opens, resumes, keeps and ends sessions. */
export class SessionRegistry {
  readonly #sessions = new Map<string, Session>();
  readonly #expiry = new Map<Session, ClockTimer>();
  /** Sessions whose processes are still to be ended. */
  #ended: Session[] = [];

  constructor(private readonly options: SessionRegistryOptions) {}

  get size(): number {
    return this.#sessions.size;
  }

  /** Those that no connection holds. */
  get detachedCount(): number {
    return this.#expiry.size;
  }

  /** How many of a principal's a connection holds, and how many none. */
  countFor(principal: Principal): { readonly attached: number; readonly detached: number } {
    const count = (sessions: Iterable<Session>) =>
      Array.from(sessions).filter((session) => isSamePrincipal(session.principal, principal)).length;
    const detached = count(this.#expiry.keys());
    return { attached: count(this.#sessions.values()) - detached, detached };
  }

  /** Opens a session. Throws {@link SessionLimitError}. */
  open(principal: Principal, owner: SessionOwner): Session {
    this.#makeRoom(principal);
    const id = randomUUID();
    const session = new Session(id, principal, () => this.#runningProcesses(id));
    this.#sessions.set(id, session);
    session.attach(owner);
    this.options.onOpen();
    return session;
  }

  /**
   * Gives a session a new connection: at once, or after the one that holds it has not given any sign of life. Throws, or
   * rejects with, {@link ResumeError}.
   */
  resume(id: string, principal: Principal, owner: SessionOwner): Session | Promise<Session> {
    const session = this.#find(id, principal);
    const { owner: current } = session;
    if (current === undefined) return this.#attach(session, owner);
    if (current.holder === undefined) throw new ResumeError('attached', id);
    return this.#takeOver(session, current, current.holder, owner);
  }

  /** Keeps a session whose connection is gone for a while. */
  detach(session: Session): void {
    session.detach();
    const timer = this.options.clock.after(this.options.detachedSessionMs, () => this.end(session));
    this.#expiry.set(session, timer);
    this.options.logger.debug({ sessionId: session.id }, 'session detached');
  }

  /** Ends a session: at once it cannot be resumed, and from this turn of the loop on its processes are ended. */
  end(session: Session): void {
    if (!this.#forget(session)) return;
    // Many sessions often end together, and to look for the processes of all costs no more than for those of one.
    if (this.#ended.length === 1) setImmediate(() => this.#endProcesses(false));
  }

  /** Ends all sessions with their processes before it returns. */
  endAll(): void {
    for (const session of this.#sessions.values()) this.#forget(session);
    this.#endProcesses(true);
  }

  #find(id: string, principal: Principal): Session {
    const session = this.#sessions.get(id);
    if (session === undefined || !isSamePrincipal(session.principal, principal))
      throw new ResumeError('unknown', id);
    return session;
  }

  #attach(session: Session, owner: SessionOwner): Session {
    this.#expiry.get(session)?.cancel();
    this.#expiry.delete(session);
    session.attach(owner);
    return session;
  }

  async #takeOver(
    session: Session,
    current: SessionOwner,
    holder: SessionHolder,
    owner: SessionOwner,
  ): Promise<Session> {
    const isAlive = await holder.showsLife();
    // Meanwhile it may have ended, come free, or gone to another one that wanted it.
    this.#find(session.id, session.principal);
    const isHeld = session.attached && (isAlive || !session.isOwnedBy(current));
    if (isHeld || owner.isGone) throw new ResumeError('attached', session.id);
    const isTakenOver = session.attached;
    this.#attach(session, owner);
    if (isTakenOver) {
      this.options.logger.info(
        { sessionId: session.id, from: current.remote, to: owner.remote },
        'session taken over',
      );
      holder.revoke(`session ${session.id} was resumed by another connection`);
    }
    return session;
  }

  /**
   * Who comes and goes often leaves sessions that hold nothing; these never keep him out. Those of others stay: their
   * clients may come back.
   */
  #makeRoom(principal: Principal): void {
    const { maxSessions, processes } = this.options;
    if (this.#sessions.size < maxSessions) return;
    for (const session of this.#expiry.keys()) {
      if (!isSamePrincipal(session.principal, principal)) continue;
      if (processes.ofSession(session.id).length > 0) continue;
      this.end(session);
      return;
    }
    throw new SessionLimitError(maxSessions);
  }

  #forget(session: Session): boolean {
    if (!this.#sessions.delete(session.id)) return false;
    this.#expiry.get(session)?.cancel();
    this.#expiry.delete(session);
    session.end();
    this.#ended.push(session);
    this.options.logger.debug({ sessionId: session.id }, 'session ended');
    return true;
  }

  #endProcesses(atOnce: boolean): void {
    const ended = this.#ended;
    this.#ended = [];
    if (ended.length > 0) this.options.onEnd(ended, atOnce);
  }

  *#runningProcesses(sessionId: string) {
    for (const { process } of this.options.processes.ofSession(sessionId)) if (process) yield process;
  }
}
