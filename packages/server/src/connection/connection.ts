import { setMaxListeners } from 'node:events';
import {
  decodeParams,
  ErrorCode,
  internalError,
  invalidRequest,
  METHODS,
  type RequestMessage,
  RpcError,
} from '@exec-server/protocol';
import { Peer, type Transport } from '@exec-server/rpc';
import {
  type Dialect,
  type DialectMethod,
  EncodedResponse,
  type HandlerContext,
} from '../dialects/dialect.js';
import type { CapabilityGates } from '../dialects/exec/capability-gates.js';
import { describeSession, openSession } from '../dialects/exec/initialize.js';
import { OwnerSink } from '../dialects/exec/owner-sink.js';
import { notifyLifecycle } from '../dialects/exec/process-start.js';
import type { ConnectionInfo } from '../listen/listener.js';
import type { OutputSink } from '../output/output-sink.js';
import type { ProcessEngine } from '../process/process-engine.js';
import type { LifecycleEvent, Session, SessionOwner } from '../sessions/session.js';
import type { SessionRegistry } from '../sessions/session-registry.js';
import type { Logger } from '../telemetry/logger.js';
import { PeerScope } from './connection-scope.js';
import { FileOrder } from './file-order.js';
import { Lanes, type Place } from './lanes.js';
import { Openings } from './openings.js';

/** WebSocket close codes that this server sends. */
const CLOSE_GOING_AWAY = 1001;
const CLOSE_PROTOCOL_ERROR = 1002;

/** What a connection needs of its server. */
export interface ConnectionServices {
  readonly engine: ProcessEngine;
  readonly sessions: SessionRegistry;
  /** What its clients speak. */
  readonly dialect: Dialect;
  readonly gates: CapabilityGates;
  readonly logger: Logger;
  onClosed(connection: Connection): void;
}

/** One connected client: its handshake, its requests in their lanes, its session. */
export class Connection implements SessionOwner {
  readonly #peer: Peer;
  readonly #lanes: Lanes;
  readonly #gone = new AbortController();
  readonly #dialect: Dialect;
  readonly #logger: Logger;
  readonly #scope: PeerScope;
  readonly #context: Omit<HandlerContext, 'requestId' | 'session' | 'place'>;
  readonly #openings = new Openings();
  readonly #fileOrder = new FileOrder();
  #session: Session | undefined;
  #confirmed = false;
  #lifecycleEvents = false;
  #takenWhileBlocked = 0;

  constructor(
    transport: Transport,
    private readonly info: ConnectionInfo,
    private readonly services: ConnectionServices,
  ) {
    const { limits } = services.engine;
    this.#logger = services.logger.child({ remote: info.remote });
    this.#dialect = services.dialect;
    this.#peer = new Peer(transport, {
      parseErrors: 'answer',
      highWaterBytes: limits.outboundHighWaterBytes,
      lowWaterBytes: limits.outboundLowWaterBytes,
      onRequest: (request, length) => this.#onRequest(request, length),
      onNotification: ({ method }) => this.#onNotification(method),
      onUnexpectedResponse: (id) => this.#fail(`unexpected client response for request id ${id}`),
      onClose: (reason) => this.#onClose(reason),
      onHandlerError: (err) => this.#logger.error({ err }, 'internal error'),
    });
    this.#scope = new PeerScope(this.#peer);
    this.#context = { engine: services.engine, connection: this.#scope, signal: this.#gone.signal };
    // Every request that waits listens for the end; how many may is the lanes' business.
    setMaxListeners(0, this.#gone.signal);
    this.#lanes = new Lanes(limits, this.#peer);
    this.#logger.debug({ principal: info.principal }, 'connected');
  }

  get remote(): string {
    return this.info.remote;
  }

  createSink(processId: string): OutputSink {
    return new OwnerSink(this.#scope, processId);
  }

  announce(event: LifecycleEvent): void {
    if (this.#lifecycleEvents) notifyLifecycle(this.#scope, event);
  }

  /** Says goodbye and ends the connection. */
  close(reason: string): void {
    this.#peer.close({ code: CLOSE_GOING_AWAY, reason });
  }

  /** Resolves when the connection is gone. */
  get closed(): Promise<unknown> {
    return this.#peer.closed;
  }

  #onRequest(request: RequestMessage, length: number): void {
    this.#pauseFloods();
    try {
      if (request.method === 'initialize') {
        this.#initialize(request);
        return;
      }
      const method = this.#dialect.find(request.method);
      const isUnknown = method === undefined || (method.isExtension && this.#session === undefined);
      if (isUnknown) throw this.#dialect.unknownMethod(request.method);
      const params = method.decode(request.params) as never;
      const session = this.#sessionFor(method);
      this.#submit(request, length, { method, params }, (place) =>
        method.handle(params, { ...this.#context, requestId: request.id, session, place }),
      );
    } catch (error) {
      this.#answerError(request, error);
    }
  }

  #submit(
    request: RequestMessage,
    length: number,
    { method, params }: { readonly method: DialectMethod; readonly params: never },
    handle: (place: Place) => unknown,
  ): void {
    const begun = method.opens && this.#openings.add(method.opens(params));
    const opening = method.follows && this.#openings.before(method.follows(params));
    const turn = method.files && this.#fileOrder.take(method.files(params));
    const taken = this.#lanes.submit(method.lane, length, async (place) => {
      if (opening !== undefined) await place.park(opening);
      if (turn?.before !== undefined) await place.park(turn.before);
      await this.#answer(request, () => handle(place), begun);
      turn?.done();
    });
    if (taken) return;
    begun?.();
    turn?.done();
    throw new RpcError(ErrorCode.overloaded, 'too many requests are pending on this connection');
  }

  #initialize(request: RequestMessage): void {
    const params = decodeParams(
      METHODS.initialize.params,
      this.services.gates.filterParams('initialize', request.params),
    );
    if (this.#session !== undefined) throw invalidRequest('initialize may only be sent once per connection');
    const { engine, sessions } = this.services;
    // Settled first, because a resumed session makes its sinks at once; after a failure the next attempt settles it anew.
    this.#scope.binaryOutput = params.binaryOutput === true && this.#peer.carriesBinary;
    this.#lifecycleEvents = params.lifecycleEvents === true;
    this.#session = openSession(sessions, params, this.info.principal, this);
    this.#logger.debug({ sessionId: this.#session.id, clientName: params.clientName }, 'session attached');
    this.#peer.respond(request.id, describeSession(engine, this.#session, params, this.#scope.binaryOutput));
  }

  #sessionFor({ family }: DialectMethod): Session {
    if (this.#session === undefined)
      throw invalidRequest(`client must call initialize before using ${family} methods`);
    if (!this.#confirmed) throw invalidRequest(`client must send initialized before using ${family} methods`);
    return this.#session;
  }

  async #answer(request: RequestMessage, handle: () => unknown, begun?: () => void): Promise<void> {
    try {
      // Its turn may come after the client went: what it started then, in a session that has ended, nobody would end.
      if (this.#gone.signal.aborted) return;
      const answer = handle();
      begun?.();
      const result = await answer;
      if (result instanceof EncodedResponse) this.#peer.respondBytes(result.line);
      else this.#peer.respond(request.id, result);
    } catch (error) {
      this.#answerError(request, error);
    } finally {
      begun?.();
    }
  }

  #answerError(request: RequestMessage, error: unknown): void {
    if (this.#gone.signal.aborted) return;
    if (!(error instanceof RpcError))
      this.#logger.error({ err: error, method: request.method }, 'request failed');
    this.#peer.respondError(request.id, error instanceof RpcError ? error : internalError('internal error'));
  }

  /** A client that asks on without reading the answers is read from no more until it has caught up. */
  #pauseFloods(): void {
    if (this.#peer.writable) {
      this.#takenWhileBlocked = 0;
      return;
    }
    if (++this.#takenWhileBlocked < this.services.engine.limits.pendingRequests) return;
    this.#peer.pause();
    void this.#peer.whenWritable().then(() => this.#peer.resume());
  }

  #onNotification(method: string): void {
    if (method !== 'initialized') this.#fail(`unexpected notification method: ${method}`);
    else if (this.#session === undefined)
      this.#fail('received `initialized` notification before `initialize`');
    else this.#confirmed = true;
  }

  /** Ends a connection whose other side does not keep to the protocol. */
  #fail(reason: string): void {
    this.#logger.warn({ reason }, 'connection ended');
    this.#peer.close({ code: CLOSE_PROTOCOL_ERROR, reason });
  }

  #onClose(reason: string | undefined): void {
    this.#logger.debug({ reason }, 'disconnected');
    this.services.onClosed(this);
    this.#gone.abort(new Error('the connection is gone'));
    // First of all: a session that stays attached to nobody could never be resumed.
    this.#leaveSession();
    this.#scope.close();
  }

  #leaveSession(): void {
    const session = this.#session;
    if (!session?.isOwnedBy(this)) return;
    if (this.info.resumable) this.services.sessions.detach(session);
    else this.services.sessions.end(session);
  }
}
