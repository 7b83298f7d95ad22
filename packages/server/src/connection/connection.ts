import {
  internalError,
  invalidParams,
  MAX_HANDSHAKE_MESSAGE_BYTES,
  type RequestMessage,
  RpcError,
} from '@exec-server/protocol';
import { Peer, type Transport, type WorkSlices } from '@exec-server/rpc';
import { LongMessage, readContentRequest, spareBuffers } from '@exec-server/rpc/node';
import type { ClockTimer } from '../clock.js';
import {
  type Conversation,
  type DialectMethod,
  EncodedResponse,
  type HandlerContext,
  LargeResponse,
} from '../dialects/dialect.js';
import { CONTENT_MEMBER, CONTENT_MEMBERS } from '../dialects/file-content.js';
import type { ConnectionInfo } from '../listen/listener.js';
import type { Principal } from '../listen/principal.js';
import type { ProcessEngine } from '../process/process-engine.js';
import type { SessionHolder } from '../sessions/session.js';
import type { Logger } from '../telemetry/logger.js';
import type { Traffic } from '../telemetry/metrics/server-metrics.js';
import { type RequestObservers, RequestWatch } from '../telemetry/request-watch.js';
import { AskedPeer } from './asked-peer.js';
import { chooseDialect, type DialectName, type Dialects } from './choose-dialect.js';
import { type ByteTotals, ConnectionBytes } from './connection-bytes.js';
import { PeerScope } from './connection-scope.js';
import { createSlices } from './create-slices.js';
import { Farewell } from './farewell.js';
import { FileOrder } from './file-order.js';
import { Lanes, type Place } from './lanes.js';
import { hasLongList, writeLargeResult } from './large-result.js';
import { MessageGate } from './message-gate.js';
import { Openings } from './openings.js';
import { SignOfLife } from './sign-of-life.js';

/** Until `initialize` a client has nothing long to say. */
const HANDSHAKE_LIMIT = { bytes: MAX_HANDSHAKE_MESSAGE_BYTES, condition: 'before initialize' };

/** Messages up to this size, in bytes, are read at once where they are mostly the content of a file: that takes a few milliseconds. */
const READ_AT_ONCE_BYTES = 2 * 1024 * 1024;

/** Why a connection ended, for the log; what the client is told quotes the message, which is not for the log. */
const UNREADABLE = 'a message cannot be read';

/** What a connection needs of its server. */
export interface ConnectionServices extends ByteTotals {
  readonly engine: ProcessEngine;
  /** What its clients may speak. */
  readonly dialects: Dialects;
  readonly logger: Logger;
  readonly observers: RequestObservers;
  onClosed(connection: Connection): void;
}

/** One connected client: what it speaks, and its requests in their lanes. */
export class Connection implements SessionHolder {
  readonly #peer: Peer;
  readonly #lanes: Lanes;
  readonly #slices: WorkSlices;
  readonly #gone = new AbortController();
  readonly #logger: Logger;
  readonly #scope: PeerScope;
  readonly #context: Omit<HandlerContext, 'requestId' | 'content' | 'session' | 'place' | 'trace'>;
  readonly #gate = new MessageGate();
  readonly #openings = new Openings();
  readonly #fileOrder = new FileOrder();
  /** Those that were begun. Before `initialize` each request is answered in the words of the dialect it belongs to. */
  readonly #conversations = new Map<DialectName, Conversation>();
  #initialized: Conversation | undefined;
  #takenWhileBlocked = 0;
  #sentUnreadable = false;
  readonly #bytes: ConnectionBytes;
  readonly #farewell: Farewell;
  readonly #handshakeTimer: ClockTimer | undefined;
  readonly #asked: AskedPeer;
  readonly #signOfLife: SignOfLife;

  constructor(
    private readonly transport: Transport,
    /** Tells the connections of a server apart in what it says about them. */
    private readonly id: number,
    private readonly info: ConnectionInfo,
    private readonly services: ConnectionServices,
  ) {
    const { limits, clock } = services.engine;
    this.#slices = createSlices(transport, clock);
    this.#logger = services.logger.child({ connectionId: id, remote: info.remote });
    this.#bytes = new ConnectionBytes(services);
    this.#peer = new Peer(transport, {
      parseErrors: () => this.#conversation.parseErrors,
      highWaterBytes: limits.outboundHighWaterBytes,
      lowWaterBytes: limits.outboundLowWaterBytes,
      slices: this.#slices,
      readLongRequest: (bytes) =>
        bytes.length <= READ_AT_ONCE_BYTES ? readContentRequest(bytes, CONTENT_MEMBER) : undefined,
      readLong: (bytes) => new LongMessage(bytes, CONTENT_MEMBERS),
      onRequest: (request, length) => this.#gate.pass(() => this.#onRequest(request, length)),
      onNotification: ({ method }) =>
        this.#gate.pass(() => this.#endFor(this.#conversation.takeNotification(method))),
      onRefused: () => this.#noteUnreadable(),
      onUnexpectedResponse: (id) => this.#endFor(this.#conversation.takeUnexpectedResponse(id)),
      onQueued: (bytes) => this.#bytes.setQueued(bytes),
      onHeld: (bytes) => this.#bytes.setUnfinished(bytes),
      onClose: (reason) => this.#onClose(reason),
      onHandlerError: (err) => this.#logger.error({ err }, 'internal error'),
    });
    this.#farewell = new Farewell(this.#peer, clock, this.#logger);
    this.#scope = new PeerScope(this.#peer);
    this.#context = { engine: services.engine, connection: this.#scope, signal: this.#gone.signal };
    this.#lanes = new Lanes(limits, this.#peer, this.#slices, (bytes) => this.#bytes.setPending(bytes));
    transport.limitMessages?.(HANDSHAKE_LIMIT);
    this.#asked = new AskedPeer(transport, this.#peer, limits.signOfLifeMs);
    this.#signOfLife = new SignOfLife(this.#asked, clock, limits.signOfLifeMs);
    // Stdio has no other client that could be kept out.
    if (info.resumable) this.#handshakeTimer = clock.after(limits.handshakeMs, () => this.#endSilence());
    this.#logger.debug({ principal: info.principal }, 'connected');
  }

  /** Says goodbye and ends the connection. */
  close(reason: string): void {
    this.#farewell.goAway(reason);
  }

  /** Ends the connection at once; what is queued is lost. */
  drop(reason: string): void {
    this.#farewell.drop(reason);
  }

  /** Whom the credential of the connection names. */
  get principal(): Principal {
    return this.info.principal;
  }

  get isGone(): boolean {
    return this.#gone.signal.aborted;
  }

  showsLife(): Promise<boolean> {
    if (!this.#asked.canBeAsked(this.#scope.answersRequests)) return Promise.resolve(true);
    return this.#signOfLife.get();
  }

  revoke(reason: string): void {
    this.#farewell.endStay(reason);
    // The end may take its time to be told; nothing that was asked before may still begin.
    this.#leave();
  }

  /** Tells the client why it cannot be served now, abandons its requests, and ends the connection. */
  sendAway(reason: string): void {
    this.#farewell.sendAway(reason);
    this.#leave();
  }

  /** Whether `sendAway` was called: what is held for the connection is about to be let go of. */
  get isSentAway(): boolean {
    return this.#farewell.isSentAway;
  }

  /** Bytes held for what the client has sent: a message that is not whole yet, and requests that are pending. */
  get heldBytes(): number {
    return this.#bytes.held;
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
      holder: this,
    });
    this.#conversations.set(name, conversation);
    return conversation;
  }

  #onRequest(request: RequestMessage, length: number): void {
    // Held back until the connection was gone.
    if (this.isGone) return;
    this.#pauseFloods();
    const watch = this.#watch(request);
    try {
      const conversation = this.#initialized ?? this.#converse(chooseDialect(request));
      if (request.excess !== undefined) throw invalidParams(request.excess);
      if (request.method === 'initialize') {
        this.#initialize(request, watch, conversation);
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

  #initialize(request: RequestMessage, watch: RequestWatch, conversation: Conversation): void {
    watch.name(request.method);
    const begin = (result: unknown) => {
      this.#initialized = conversation;
      this.#handshakeTimer?.cancel();
      this.transport.limitMessages?.();
      this.#peer.respond(request.id, result);
      watch.end({});
    };
    const result = conversation.initialize(request.params);
    if (!(result instanceof Promise)) {
      begin(result);
      return;
    }
    const answered = result.then(begin).catch((error: unknown) => this.#answerError(request, watch, error));
    this.#peer.pause();
    void this.#gate.closeUntil(answered).then(() => {
      if (this.#gate.isOpen) this.#peer.resume();
    });
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
      // What other methods are given may be used beyond their answers.
      if (request.content !== undefined && request.method === CONTENT_MEMBER.method)
        spareBuffers.give(request.content);
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
      else if (hasLongList(result)) this.#peer.respondBytes(await writeLargeResult(request.id, result));
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
    if (reason !== undefined) this.#farewell.endBreach(reason);
  }

  #endSilence(): void {
    const seconds = this.services.engine.limits.handshakeMs / 1000;
    this.#farewell.endStay(`no initialize within ${seconds} seconds`);
  }

  #noteUnreadable(): void {
    this.#sentUnreadable = true;
    this.#logger.warn({ reason: UNREADABLE }, 'connection ended');
  }

  #onClose(reason: string | undefined): void {
    this.#handshakeTimer?.cancel();
    this.#farewell.end();
    this.#bytes.end();
    this.#logger.debug({ reason: this.#sentUnreadable ? UNREADABLE : reason }, 'disconnected');
    this.services.onClosed(this);
    this.#leave();
  }

  /** Gives up everything that belongs to the connection. */
  #leave(): void {
    if (this.isGone) return;
    this.#gone.abort(new Error('the connection is gone'));
    // First of all: a session that stays attached to nobody could never be resumed.
    for (const conversation of this.#conversations.values()) conversation.close();
    this.#scope.close();
  }
}
