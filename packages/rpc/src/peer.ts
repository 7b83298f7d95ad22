import {
  decodeMessage,
  encodeError,
  encodeNotification,
  encodeRequest,
  encodeResult,
  internalError,
  invalidRequest,
  MalformedMessageError,
  type Message,
  parseErrorText,
  type RequestId,
  type RequestMessage,
  RpcError,
} from '@exec-server/protocol';
import { ConnectionLostError } from './errors.js';
import { InboundQueue } from './inbound-queue.js';
import { InboundValve } from './inbound-valve.js';
import { OutboundGauge } from './outbound-gauge.js';
import type { PeerOptions, WireError } from './peer-options.js';
import { type CallOptions, PendingCalls } from './pending-calls.js';
import type { CloseOptions, KeepBytes, Transport, TransportHandlers } from './transport.js';

const DEFAULT_MAX_PENDING_CALLS = 1024;
const DEFAULT_HIGH_WATER_BYTES = 1024 * 1024;
const DEFAULT_LOW_WATER_BYTES = 256 * 1024;

/** How long requests that were already read may take once the other side has stopped sending. */
const END_OF_INPUT_GRACE_MS = 1_000;

/** The id of an answer to a message that had none to read. */
const NO_REQUEST_ID = -1;

/** WebSocket close code for a peer that does not keep to the protocol. */
const PROTOCOL_ERROR_CLOSE_CODE = 1002;

/** One end of a connection on which both sides may call. It opens the transport and owns it. */
export class Peer {
  /** Settles when the connection has ended, with the reason unless it ended cleanly. Never rejects. */
  readonly closed: Promise<string | undefined>;
  readonly #transport: Transport;
  readonly #options: PeerOptions;
  readonly #calls: PendingCalls;
  readonly #gauge: OutboundGauge;
  readonly #inbound: InboundValve;
  readonly #arrived: InboundQueue;
  /** Set at the first moment of the end, with the reason if this side has one. */
  #ending: { reason: string | undefined } | undefined;
  #unansweredRequests = 0;
  #graceTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(transport: Transport, options: PeerOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#inbound = new InboundValve(transport);
    this.#arrived = new InboundQueue(options.slices, this.#inbound);
    this.#calls = new PendingCalls(options.maxPendingCalls ?? DEFAULT_MAX_PENDING_CALLS);
    this.#gauge = new OutboundGauge(
      options.highWaterBytes ?? DEFAULT_HIGH_WATER_BYTES,
      options.lowWaterBytes ?? DEFAULT_LOW_WATER_BYTES,
    );
    this.closed = new Promise((resolve) => transport.open(this.#handleTransport(resolve)));
  }

  /** Names the connection in messages to people. */
  get label(): string {
    return this.#transport.label;
  }

  /** True from the first moment of the end: what is sent from then on goes nowhere. */
  get isClosed(): boolean {
    return this.#ending !== undefined;
  }

  /** Whether `sendBinary` works. */
  get carriesBinary(): boolean {
    return this.#transport.sendBinary !== undefined;
  }

  /** Whether `sendObject` works: the other side is in this process and takes objects. */
  get carriesObjects(): boolean {
    return this.#transport.carriesObjects === true;
  }

  /** Calls that the other side has not answered, also those that were given up. */
  get unansweredCalls(): number {
    return this.#calls.unansweredCount;
  }

  /** Bytes sent that have not left this process yet. */
  get bufferedBytes(): number {
    return this.#transport.bufferedBytes;
  }

  /** False from the moment the queue reaches the high mark until it has fallen to the low mark. */
  get writable(): boolean {
    return this.#gauge.writable;
  }

  /** Settles when `writable` is true; at once if it is, and at the end of the connection. Never rejects. */
  whenWritable(): Promise<void> {
    return this.#gauge.whenWritable();
  }

  /**
   * Calls the other side. Rejects with `RpcError` when it answers with an error, with `ConnectionLostError` when the
   * connection ends first, `CallTimeoutError` after `timeoutMs`, the signal's reason when aborted.
   */
  async request(method: string, params: unknown, options: CallOptions = {}): Promise<unknown> {
    if (this.#ending !== undefined) throw new ConnectionLostError(this.#ending.reason);
    return this.#calls.run(method, options, (id) =>
      this.#send(encodeRequest(id, method, params, options.trace)),
    );
  }

  notify(method: string, params: unknown): void {
    this.#send(encodeNotification(method, params));
  }

  respond(id: RequestId, result: unknown): void {
    this.#answer(encodeResult(id, result));
  }

  respondError(id: RequestId, error: WireError): void {
    this.#answer(encodeError(id, error));
  }

  /** Answers a request with a response that is encoded already; see {@link Peer.sendBytes}. */
  respondBytes(line: Uint8Array, onFree?: () => void): void {
    this.sendBytes(line, onFree);
    this.#countAnswer();
  }

  /** Sends a message that is encoded already, with its newline; the buffer is the peer's until `onFree`, which may never come. */
  sendBytes(line: Uint8Array, onFree?: () => void): void {
    if (this.#ending !== undefined) return;
    this.#transport.sendBytes(line, onFree);
    this.#measureQueue();
  }

  /**
   * Sends one binary message in one or two parts, which are not to be changed any more; `rest` may be from `onFree` on,
   * which is not called when the connection ends before. Only where `carriesBinary`, to a side that expects it.
   */
  sendBinary(frame: Uint8Array, rest?: Uint8Array, onFree?: () => void): void {
    if (this.#transport.sendBinary === undefined) throw new Error(`${this.label} carries no binary messages`);
    if (this.#ending !== undefined) return;
    this.#transport.sendBinary(frame, rest, onFree);
    this.#measureQueue();
  }

  /** Hands an object over as it is; it counts as `bytes` until it is taken. Only where `carriesObjects`. */
  sendObject(message: object, bytes: number): void {
    if (!this.carriesObjects) throw new Error(`${this.label} carries no objects`);
    if (this.#ending !== undefined) return;
    this.#transport.sendObject?.(message, bytes);
    this.#measureQueue();
  }

  /** Stops reading; what is already read may still be delivered. */
  pause(): void {
    this.#inbound.pause('owner');
  }

  resume(): void {
    this.#inbound.resume('owner');
  }

  /** Sends what is queued, then ends. Pending calls fail at once: their answers would not be read. */
  close(options: CloseOptions = {}): void {
    if (!this.#beginEnd(options.reason)) return;
    this.#arrived.clear();
    this.#transport.close(options);
  }

  /** Ends at once; what is queued is lost. */
  destroy(reason: string): void {
    this.#beginEnd(reason);
    this.#arrived.clear();
    this.#transport.destroy(reason);
  }

  #send(text: string): void {
    if (this.#ending !== undefined) return;
    this.#transport.send(text);
    this.#measureQueue();
  }

  #measureQueue(): void {
    const bytes = this.#transport.bufferedBytes;
    this.#gauge.update(bytes);
    this.#options.onQueued?.(bytes);
  }

  #answer(text: string): void {
    this.#send(text);
    this.#countAnswer();
  }

  #countAnswer(): void {
    this.#unansweredRequests--;
    if (this.#graceTimer !== undefined && this.#unansweredRequests <= 0) this.close();
  }

  /** What the transport tells is taken in order, now or when there is time. */
  #handleTransport(onClosed: (reason: string | undefined) => void): TransportHandlers {
    const options = this.#options;
    const take = (step: () => void) => this.#arrived.add(step);
    return {
      onMessage: (text) => take(() => this.#receive(text)),
      ...(options.readLong && { onLongMessage: (bytes, keep) => this.#receiveLong(bytes, keep) }),
      ...(options.onBinary && {
        onBinary: (frame) => take(() => this.#guard(() => options.onBinary?.(frame))),
      }),
      ...(options.onObject && {
        onObject: (object) => take(() => this.#guard(() => options.onObject?.(object))),
      }),
      onMalformed: (detail) => take(() => this.#refuseMessage(detail)),
      onDrain: () => this.#measureQueue(),
      onHeld: () => options.onHeld?.(this.#transport.heldBytes ?? 0),
      onEnd: () => this.#arrived.addLast(() => this.#finishRequestsAndClose()),
      onClose: (reason) => {
        const outcome = this.#transportClosed(reason);
        this.#arrived.addLast(() => {
          onClosed(outcome);
          this.#guard(() => options.onClose?.(outcome));
        });
      },
    };
  }

  #receive(text: string): void {
    const message = this.#readMessage(() => decodeMessage(text));
    if (message !== undefined && message !== 'refused') this.#dispatch(message, text.length);
  }

  #receiveLong(bytes: Uint8Array, keep: KeepBytes): void {
    if (!this.#arrived.isBusy) {
      const request = this.#options.readLongRequest?.(bytes);
      if (request !== undefined) {
        this.#handleRequest(request, bytes.length);
        return;
      }
    }
    const kept = keep();
    const reader = this.#options.readLong?.(kept.bytes);
    const hasTime = () => this.#options.slices?.hasTime ?? true;
    this.#arrived.add(
      () => {
        const message = this.#readMessage(
          () => reader?.read(hasTime),
          // As one that is short enough to be looked at by the transport.
          () => this.#transport.framing === 'lines' && reader?.isBlank === true,
        );
        if (message === undefined) return false;
        const { length } = kept.bytes;
        kept.release();
        if (message !== 'refused') this.#dispatch(message, length);
        return true;
      },
      () => kept.release(),
    );
  }

  #readMessage(read: () => Message | undefined, isNothing = () => false): Message | 'refused' | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof MalformedMessageError)) throw error;
      if (!isNothing()) this.#refuseMessage(error.message);
      return 'refused';
    }
  }

  #dispatch(message: Message, length: number): void {
    switch (message.kind) {
      case 'request':
        this.#handleRequest(message, length);
        break;
      case 'notification':
        this.#guard(() => this.#options.onNotification(message));
        break;
      case 'response':
        if (!this.#calls.resolve(message.id, message.result)) this.#unexpectedResponse(message.id);
        break;
      case 'error': {
        const { code, message: text, data } = message.error;
        const error = new RpcError(code, text, data === undefined ? {} : { data });
        if (!this.#calls.reject(message.id, error)) this.#unexpectedResponse(message.id);
        break;
      }
    }
  }

  #handleRequest(request: RequestMessage, length: number): void {
    this.#unansweredRequests++;
    const refuse = (error: unknown) => {
      this.#reportHandlerError(error);
      this.respondError(request.id, toWireError(error));
    };
    try {
      this.#options.onRequest(request, length)?.catch(refuse);
    } catch (error) {
      refuse(error);
    }
  }

  /** Late answers to calls that were given up are no surprise. */
  #unexpectedResponse(id: RequestId): void {
    if (!this.#calls.wasIssued(id)) this.#guard(() => this.#options.onUnexpectedResponse?.(id));
  }

  #refuseMessage(detail: string): void {
    const { parseErrors } = this.#options;
    const rule = typeof parseErrors === 'function' ? parseErrors() : parseErrors;
    if (rule === 'ignore') return;
    const text = parseErrorText(this.#transport.framing, this.label, detail);
    if (rule === 'close') {
      this.#guard(() => this.#options.onRefused?.(text));
      this.close({ code: PROTOCOL_ERROR_CLOSE_CODE, reason: text });
      return;
    }
    this.#send(encodeError(NO_REQUEST_ID, toWireError(invalidRequest(text, 'malformed_message'))));
    if (!this.writable) this.#pauseUntilWritable();
  }

  /** These answers are longer than what provokes them, so who sends garbage and does not read has to wait. */
  #pauseUntilWritable(): void {
    if (this.#inbound.isPausedFor('flood')) return;
    this.#inbound.pause('flood');
    void this.whenWritable().then(() => this.#inbound.resume('flood'));
  }

  #finishRequestsAndClose(): void {
    this.#calls.rejectAll(new ConnectionLostError());
    if (this.#unansweredRequests <= 0) {
      this.close();
      return;
    }
    const graceMs = this.#options.endOfInputGraceMs ?? END_OF_INPUT_GRACE_MS;
    this.#graceTimer = setTimeout(() => this.close(), graceMs);
  }

  /** False when the end has begun already. */
  #beginEnd(reason: string | undefined): boolean {
    if (this.#ending !== undefined) return false;
    this.#ending = { reason };
    clearTimeout(this.#graceTimer);
    this.#calls.rejectAll(new ConnectionLostError(reason));
    this.#gauge.close();
    return true;
  }

  #transportClosed(reason: string | undefined): string | undefined {
    this.#beginEnd(reason);
    return this.#ending?.reason ?? reason;
  }

  #guard(handle: () => void): void {
    try {
      handle();
    } catch (error) {
      this.#reportHandlerError(error);
    }
  }

  #reportHandlerError(error: unknown): void {
    try {
      this.#options.onHandlerError?.(error);
    } catch {
      // A reporter that fails has nobody left to tell.
    }
  }
}

function toWireError(error: unknown): WireError {
  if (error instanceof RpcError) {
    const { code, message, data } = error;
    return data === undefined ? { code, message } : { code, message, data };
  }
  return toWireError(internalError(error instanceof Error ? error.message : String(error)));
}
