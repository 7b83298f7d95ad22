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
import { describeSession, openSession } from '../dialects/exec/initialize.js';
import { JsonOutputSink } from '../dialects/exec/json-output-sink.js';
import { execDialect } from '../dialects/exec/table.js';
import type { ConnectionInfo } from '../listen/listener.js';
import type { OutputSink } from '../output/output-sink.js';
import type { ProcessEngine } from '../process/process-engine.js';
import type { Session, SessionOwner } from '../sessions/session.js';
import type { SessionRegistry } from '../sessions/session-registry.js';
import type { Logger } from '../telemetry/logger.js';
import { PeerScope } from './connection-scope.js';
import { Lanes } from './lanes.js';

/** WebSocket close codes that this server sends. */
const CLOSE_GOING_AWAY = 1001;
const CLOSE_PROTOCOL_ERROR = 1002;

/** What a connection needs of its server. */
export interface ConnectionServices {
  readonly engine: ProcessEngine;
  readonly sessions: SessionRegistry;
  readonly logger: Logger;
  onClosed(connection: Connection): void;
}

/** One connected client: its handshake, its requests in their lanes, its session. */
export class Connection implements SessionOwner {
  readonly #peer: Peer;
  readonly #lanes: Lanes;
  readonly #gone = new AbortController();
  readonly #dialect: Dialect = execDialect;
  readonly #logger: Logger;
  readonly #scope: PeerScope;
  readonly #context: Omit<HandlerContext, 'requestId' | 'session' | 'place'>;
  #session: Session | undefined;
  #confirmed = false;
  #takenWhileBlocked = 0;

  constructor(
    transport: Transport,
    private readonly info: ConnectionInfo,
    private readonly services: ConnectionServices,
  ) {
    const { limits } = services.engine;
    this.#logger = services.logger.child({ remote: info.remote });
    this.#peer = new Peer(transport, {
      parseErrors: 'answer',
      highWaterBytes: limits.outboundHighWaterBytes,
      lowWaterBytes: limits.outboundLowWaterBytes,
      onRequest: (request, length) => this.#onRequest(request, length),
      onNotification: ({ method }) => this.#onNotification(method),
      onUnexpectedResponse: (id) => this.#fail(`unexpected client response for request id ${id}`),
      onClose: (reason) => this.#onClose(reason),
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
    return new JsonOutputSink(this.#peer, processId);
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
      const params = method.decode(request.params);
      const session = this.#sessionFor(method);
      const taken = this.#lanes.submit(method.lane, length, (place) =>
        this.#answer(request, () =>
          method.handle(params as never, { ...this.#context, requestId: request.id, session, place }),
        ),
      );
      if (!taken)
        throw new RpcError(ErrorCode.overloaded, 'too many requests are pending on this connection');
    } catch (error) {
      this.#answerError(request, error);
    }
  }

  #initialize(request: RequestMessage): void {
    const params = decodeParams(METHODS.initialize.params, request.params);
    if (this.#session !== undefined) throw invalidRequest('initialize may only be sent once per connection');
    const { engine, sessions } = this.services;
    this.#session = openSession(sessions, params, this.info.principal, this);
    this.#logger.debug({ sessionId: this.#session.id, clientName: params.clientName }, 'session attached');
    this.#peer.respond(request.id, describeSession(engine, this.#session));
  }

  #sessionFor({ family }: DialectMethod): Session {
    if (this.#session === undefined)
      throw invalidRequest(`client must call initialize before using ${family} methods`);
    if (!this.#confirmed) throw invalidRequest(`client must send initialized before using ${family} methods`);
    return this.#session;
  }

  async #answer(request: RequestMessage, handle: () => unknown): Promise<void> {
    // Its turn may come after the client went: what it started then, in a session that has ended, nobody would end.
    if (this.#gone.signal.aborted) return;
    try {
      const result = await handle();
      if (result instanceof EncodedResponse) this.#peer.respondBytes(result.line);
      else this.#peer.respond(request.id, result);
    } catch (error) {
      this.#answerError(request, error);
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
    this.#gone.abort(new Error('the connection is gone'));
    this.#scope.close();
    this.#logger.debug({ reason }, 'disconnected');
    const session = this.#session;
    if (session?.isOwnedBy(this)) {
      if (this.info.resumable) this.services.sessions.detach(session);
      else this.services.sessions.end(session);
    }
    this.services.onClosed(this);
  }
}
