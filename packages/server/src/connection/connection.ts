import { setMaxListeners } from 'node:events';
import { internalError, invalidParams, type RequestMessage, RpcError } from '@exec-server/protocol';
import { Peer, SharedTurn, type Transport, WorkSlices } from '@exec-server/rpc';
import { LongMessage } from '@exec-server/rpc/node';
import type { ClockTimer } from '../clock.js';
import {
  type Conversation,
  type DialectMethod,
  EncodedResponse,
  type HandlerContext,
  LargeResponse,
} from '../dialects/dialect.js';
import { CONTENT_MEMBERS } from '../dialects/file-content.js';
import type { ConnectionInfo } from '../listen/listener.js';
import type { Principal } from '../listen/principal.js';
import type { ProcessEngine } from '../process/process-engine.js';
import type { Logger } from '../telemetry/logger.js';
import type { Traffic } from '../telemetry/metrics/server-metrics.js';
import { type RequestObservers, RequestWatch } from '../telemetry/request-watch.js';
import { chooseDialect, type DialectName, type Dialects } from './choose-dialect.js';
import { PeerScope } from './connection-scope.js';
import { FileOrder } from './file-order.js';
import { Lanes, type Place } from './lanes.js';
import { Openings } from './openings.js';

/** WebSocket close codes that this server sends. */
const CLOSE_GOING_AWAY = 1001;
const CLOSE_PROTOCOL_ERROR = 1002;
const CLOSE_POLICY_VIOLATION = 1008;

/**
 * Longest time that connections with many requests take of a turn of the event loop, in milliseconds; then everybody else
 * has a turn. A request that takes longer by itself is finished.
 */
const TURN_MS = 6;

/** That of this process, whichever server a connection belongs to. */
const sharedTurn = new SharedTurn(TURN_MS);
/** A client in the same process takes its turns of this loop as it likes. */
const endlessTurn = new SharedTurn(Number.POSITIVE_INFINITY);

/** Why a connection ended, for the log; what the client is told quotes the message, which is not for the log. */
const UNREADABLE = 'a message cannot be read';

/** What a connection needs of its server. */
export interface ConnectionServices {
  readonly engine: ProcessEngine;
  /** What its clients may speak. */
  readonly dialects: Dialects;
  readonly logger: Logger;
  readonly observers: RequestObservers;
  /** Takes note of a change of the bytes that are queued to a connection. */
  onQueued(change: number): void;
  onClosed(connection: Connection): void;
}

/** One connected client: what it speaks, and its requests in their lanes. */
export class Connection {
  readonly #peer: Peer;
  readonly #lanes: Lanes;
  readonly #slices: WorkSlices;
  readonly #gone = new AbortController();
  readonly #logger: Logger;
  readonly #scope: PeerScope;
  readonly #context: Omit<HandlerContext, 'requestId' | 'content' | 'session' | 'place' | 'trace'>;
  readonly #openings = new Openings();
  readonly #fileOrder = new FileOrder();
  /** Those that were begun. Before `initialize` each request is answered in the words of the dialect it belongs to. */
  readonly #conversations = new Map<DialectName, Conversation>();
  #initialized: Conversation | undefined;
  #takenWhileBlocked = 0;
  #sentUnreadable = false;
  #queuedBytes = 0;
  readonly #handshakeTimer: ClockTimer | undefined;

  constructor(
    transport: Transport,
    /** Tells the connections of a server apart in what it says about them. */
    private readonly id: number,
    private readonly info: ConnectionInfo,
    private readonly services: ConnectionServices,
  ) {
    const { limits, clock } = services.engine;
    this.#slices = new WorkSlices({
      turn: transport.framing === 'memory' ? endlessTurn : sharedTurn,
      now: () => clock.now(),
      nextTurn: setImmediate,
    });
    this.#logger = services.logger.child({ connectionId: id, remote: info.remote });
    this.#peer = new Peer(transport, {
      parseErrors: () => this.#conversation.parseErrors,
      highWaterBytes: limits.outboundHighWaterBytes,
      lowWaterBytes: limits.outboundLowWaterBytes,
      slices: this.#slices,
      readLong: (bytes) => new LongMessage(bytes, CONTENT_MEMBERS),
      onRequest: (request, length) => this.#onRequest(request, length),
      onNotification: ({ method }) => this.#endFor(this.#conversation.takeNotification(method)),
      onRefused: () => this.#noteUnreadable(),
      onUnexpectedResponse: (id) => this.#endFor(this.#conversation.takeUnexpectedResponse(id)),
      onQueued: (bytes) => this.#noteQueued(bytes),
      onClose: (reason) => this.#onClose(reason),
      onHandlerError: (err) => this.#logger.error({ err }, 'internal error'),
    });
    this.#scope = new PeerScope(this.#peer);
    this.#context = { engine: services.engine, connection: this.#scope, signal: this.#gone.signal };
    // Every request that waits listens for the end; how many may is the lanes' business.
    setMaxListeners(0, this.#gone.signal);
    this.#lanes = new Lanes(limits, this.#peer, this.#slices);
    // Stdio has no other client that could be kept out.
    if (info.resumable) this.#handshakeTimer = clock.after(limits.handshakeMs, () => this.#endSilence());
    this.#logger.debug({ principal: info.principal }, 'connected');
  }

  /** Says goodbye and ends the connection. */
  close(reason: string): void {
    this.#peer.close({ code: CLOSE_GOING_AWAY, reason });
  }

  /** Ends the connection at once; what is queued is lost. */
  drop(reason: string): void {
    this.#logger.warn({ reason }, 'connection dropped');
    this.#peer.destroy(reason);
  }

  /** Whom the credential of the connection names. */
  get principal(): Principal {
    return this.info.principal;
  }

  /** Requests that have not been answered yet. */
  get pendingRequests(): number {
    return this.#lanes.pending;
  }

  /** Bytes sent that have not left this process yet. */
  get outboundBytes(): number {
    return this.#peer.bufferedBytes;
  }

  /** Bytes that went over it, where something counts them. */
  get traffic(): Traffic | undefined {
    return this.info.readTraffic?.();
  }

  /** Resolves when the connection is gone. */
  get closed(): Promise<unknown> {
    return this.#peer.closed;
  }

  /** What the client speaks; until `initialize` has settled it, whatever is the rule for clients of no dialect. */
  get #conversation(): Conversation {
    return this.#initialized ?? this.#converse('exec');
  }

  #converse(name: DialectName): Conversation {
    const begun = this.#conversations.get(name);
    if (begun !== undefined) return begun;
    const conversation = this.services.dialects[name].converse({
      info: this.info,
      logger: this.#logger,
      scope: this.#scope,
      carriesBinary: this.#peer.carriesBinary,
    });
    this.#conversations.set(name, conversation);
    return conversation;
  }

  #onRequest(request: RequestMessage, length: number): void {
    this.#pauseFloods();
    const watch = this.#watch(request);
    try {
      const conversation = this.#initialized ?? this.#converse(chooseDialect(request));
      if (request.excess !== undefined) throw invalidParams(request.excess);
      if (request.method === 'initialize') {
        watch.name(request.method);
        const result = conversation.initialize(request.params);
        this.#initialized = conversation;
        this.#handshakeTimer?.cancel();
        this.#peer.respond(request.id, result);
        watch.end({});
        return;
      }
      const method = conversation.find(request.method, request.params);
      if (method === undefined) throw conversation.unknownMethod(request.method);
      watch.name(request.method);
      const params = method.decode(request.params) as never;
      const session = conversation.admit(method);
      const { trace } = watch;
      const taken = this.#submit(request, watch, length, { method, params }, (place) =>
        method.handle(params, {
          ...this.#context,
          requestId: request.id,
          content: request.content,
          session,
          place,
          trace,
        }),
      );
      if (!taken) throw conversation.overloaded();
    } catch (error) {
      this.#answerError(request, watch, error);
    }
  }

  #watch(request: RequestMessage): RequestWatch {
    const { id, info, services } = this;
    const watch = new RequestWatch(request, services.observers, { connectionId: id, remote: info.remote });
    if (request.trace?.traceparent && watch.trace === undefined)
      this.#logger.debug({}, 'a traceparent that cannot be read is ignored');
    return watch;
  }

  #submit(
    request: RequestMessage,
    watch: RequestWatch,
    length: number,
    { method, params }: { readonly method: DialectMethod; readonly params: never },
    handle: (place: Place) => unknown,
  ): boolean {
    const opened = method.opens && this.#openings.add(method.opens(params));
    const opening = method.follows && this.#openings.before(method.follows(params));
    const turn = method.files && this.#fileOrder.take(method.files(params));
    const begun = () => {
      opened?.();
      if (method.staysOpen) turn?.done();
    };
    const taken = this.#lanes.submit(method.lane, length, async (place) => {
      if (opening !== undefined) await place.park(opening);
      if (turn?.before !== undefined) await place.park(turn.before);
      await this.#answer(request, watch, () => handle(place), begun);
      turn?.done();
    });
    if (!taken) {
      begun();
      turn?.done();
    }
    return taken;
  }

  async #answer(
    request: RequestMessage,
    watch: RequestWatch,
    handle: () => unknown,
    begun: () => void,
  ): Promise<void> {
    try {
      // Its turn may come after the client went: what it started then, in a session that has ended, nobody would end.
      if (this.#gone.signal.aborted) return watch.end('abandoned');
      const answer = watch.run(handle);
      begun();
      const result = await answer;
      if (result instanceof LargeResponse) await this.#respondInTurn(result);
      else if (result instanceof EncodedResponse) this.#peer.respondBytes(result.line, result.onFree);
      else this.#peer.respond(request.id, result);
      watch.end({});
    } catch (error) {
      this.#answerError(request, watch, error);
    } finally {
      begun();
    }
  }

  #respondInTurn(response: LargeResponse): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#slices.run(() => {
        try {
          const { line, onFree } = response.encode();
          this.#peer.respondBytes(line, onFree);
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #answerError(request: RequestMessage, watch: RequestWatch, error: unknown): void {
    if (this.#gone.signal.aborted) {
      watch.end('abandoned');
      return;
    }
    if (!(error instanceof RpcError)) {
      const traceId = watch.trace?.parent.traceId;
      this.#logger.error({ err: error, method: request.method, traceId }, 'request failed');
    }
    const answer = error instanceof RpcError ? error : internalError('internal error');
    this.#peer.respondError(request.id, answer);
    watch.end({ errorCode: answer.code });
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

  /** Ends a connection whose other side does not keep to the protocol; does nothing without a reason. */
  #endFor(reason: string | undefined): void {
    if (reason === undefined) return;
    this.#logger.warn({ reason }, 'connection ended');
    this.#peer.close({ code: CLOSE_PROTOCOL_ERROR, reason });
  }

  #endSilence(): void {
    const seconds = this.services.engine.limits.handshakeMs / 1000;
    const reason = `no initialize within ${seconds} seconds`;
    this.#logger.info({ reason }, 'connection ended');
    this.#peer.close({ code: CLOSE_POLICY_VIOLATION, reason });
  }

  #noteQueued(bytes: number): void {
    this.services.onQueued(bytes - this.#queuedBytes);
    this.#queuedBytes = bytes;
  }

  #noteUnreadable(): void {
    this.#sentUnreadable = true;
    this.#logger.warn({ reason: UNREADABLE }, 'connection ended');
  }

  #onClose(reason: string | undefined): void {
    this.#handshakeTimer?.cancel();
    this.#noteQueued(0);
    this.#logger.debug({ reason: this.#sentUnreadable ? UNREADABLE : reason }, 'disconnected');
    this.services.onClosed(this);
    this.#gone.abort(new Error('the connection is gone'));
    // First of all: a session that stays attached to nobody could never be resumed.
    for (const conversation of this.#conversations.values()) conversation.close();
    this.#scope.close();
  }
}
