import {
  decodeParams,
  EXTENSION_METHODS,
  type InitializeParams,
  type InitializeResult,
  invalidRequest,
  METHODS,
  methodNotFound,
  overloaded,
  type RequestId,
  type RpcError,
} from '@exec-server/protocol';
import type { OutputSink } from '../../output/output-sink.js';
import type { ProcessEngine } from '../../process/process-engine.js';
import type {
  LifecycleEvent,
  NetworkAuthority,
  Session,
  SessionHolder,
  SessionOwner,
} from '../../sessions/session.js';
import type { SessionRegistry } from '../../sessions/session-registry.js';
import type { Conversation, ConversationHost, DialectMethod } from '../dialect.js';
import type { CapabilityGates } from './capability-gates.js';
import { describeSession, openSession } from './initialize.js';
import { notifyLifecycle } from './lifecycle-events.js';
import { ClientNetworkAuthority } from './network-messages.js';
import { OwnerSink } from './owner-sink.js';

/** What conversations in this dialect have in common. */
export interface ExecServices {
  readonly engine: ProcessEngine;
  readonly sessions: SessionRegistry;
  readonly gates: CapabilityGates;
  readonly methods: ReadonlyMap<string, DialectMethod>;
}

/** A client of the current protocol, and the session that it opened or resumed. */
export class ExecConversation implements Conversation, SessionOwner {
  readonly parseErrors = 'answer';
  readonly network: NetworkAuthority;
  #session: Session | undefined;
  #confirmed = false;
  #lifecycleEvents = false;

  constructor(
    private readonly host: ConversationHost,
    private readonly services: ExecServices,
  ) {
    this.network = new ClientNetworkAuthority(host.scope);
  }

  get remote(): string {
    return this.host.info.remote;
  }

  get isGone(): boolean {
    return this.host.holder.isGone;
  }

  createSink(processId: string): OutputSink {
    return new OwnerSink(this.host.scope, processId);
  }

  announce(event: LifecycleEvent): void {
    if (this.#lifecycleEvents) notifyLifecycle(this.host.scope, event);
  }

  get holder(): SessionHolder | undefined {
    const isResumable = this.host.info.resumable && this.services.gates.has('sessionTakeover');
    return isResumable ? this.host.holder : undefined;
  }

  initialize(raw: unknown): InitializeResult | Promise<InitializeResult> {
    const { sessions, gates } = this.services;
    const { scope, info, carriesBinary } = this.host;
    const params = decodeParams(METHODS.initialize.params, gates.filterParams('initialize', raw));
    if (this.#session !== undefined)
      throw invalidRequest('initialize may only be sent once per connection', 'already_initialized');
    // Settled first, because a resumed session makes its sinks at once; after a failure the next attempt settles it anew.
    scope.binaryOutput = params.binaryOutput === true && carriesBinary;
    this.#lifecycleEvents = params.lifecycleEvents === true;
    scope.answersRequests = params.answersRequests === true;
    const session = openSession(sessions, params, info.principal, this);
    return session instanceof Promise
      ? session.then((resumed) => this.#begin(resumed, params))
      : this.#begin(session, params);
  }

  #begin(session: Session, params: InitializeParams): InitializeResult {
    const { scope, logger } = this.host;
    this.#session = session;
    logger.debug({ sessionId: session.id, clientName: params.clientName }, 'session attached');
    return describeSession(this.services.engine, session, params, scope.binaryOutput);
  }

  find(method: string): DialectMethod | undefined {
    const isUntold = this.#session === undefined && EXTENSION_METHODS.has(method);
    return isUntold ? undefined : this.services.methods.get(method);
  }

  unknownMethod(method: string): RpcError {
    return methodNotFound(method);
  }

  admit({ family }: DialectMethod): Session {
    if (this.#session === undefined)
      throw invalidRequest(`client must call initialize before using ${family} methods`, 'not_initialized');
    if (!this.#confirmed)
      throw invalidRequest(`client must send initialized before using ${family} methods`, 'not_initialized');
    return this.#session;
  }

  overloaded(): RpcError {
    return overloaded('too many requests are pending on this connection');
  }

  takeNotification(method: string): string | undefined {
    if (method !== 'initialized') return `unexpected notification method: ${method}`;
    if (this.#session === undefined) return 'received `initialized` notification before `initialize`';
    this.#confirmed = true;
    return undefined;
  }

  takeUnexpectedResponse(id: RequestId): string {
    return `unexpected client response for request id ${id}`;
  }

  close(): void {
    const session = this.#session;
    if (!session?.isOwnedBy(this)) return;
    if (this.host.info.resumable && !session.endsWithConnection) this.services.sessions.detach(session);
    else this.services.sessions.end(session);
  }
}
