import { describeClose } from './close-reason.js';
import { Fifo } from './fifo.js';
import { joinBytes } from './join-bytes.js';
import { type MessageLimit, MessageTooLongError } from './message-limit.js';
import type { CloseOptions, Transport, TransportHandlers } from './transport.js';
import { TransportOwner } from './transport-owner.js';

/** WebSocket close code for a message that is too long. */
const CLOSE_TOO_LONG = 1009;
const NEWLINE_BYTES = 1;
const NOTHING = new Uint8Array();
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Two transports joined in memory: what one sends the other receives, in order, never within the call that sent it.
 * A message counts as buffered until the other side has been given it.
 */
export function createMemoryTransportPair(labelA = 'memory a', labelB = 'memory b'): [Transport, Transport] {
  const aToB = new OneWayQueue();
  const bToA = new OneWayQueue();
  return [new MemoryTransport(labelA, bToA, aToB), new MemoryTransport(labelB, aToB, bToA)];
}

class MemoryTransport implements Transport {
  readonly framing = 'memory';
  readonly label: string;
  readonly #owner = new TransportOwner();
  readonly #incoming: OneWayQueue;
  readonly #outgoing: OneWayQueue;
  #limit: MessageLimit | undefined;

  constructor(label: string, incoming: OneWayQueue, outgoing: OneWayQueue) {
    this.label = label;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    outgoing.onTaken = () => this.#owner.drained();
  }

  get bufferedBytes(): number {
    return this.#owner.phase === 'live' ? this.#outgoing.bytes : 0;
  }

  open(handlers: TransportHandlers): void {
    this.#owner.open(handlers);
    this.#incoming.readInto({
      message: (message) => this.#receive(message),
      end: (reason) => this.#end(reason),
      takesObjects: handlers.onObject !== undefined,
    });
  }

  limitMessages(limit?: MessageLimit): void {
    this.#limit = limit;
  }

  send(text: string): void {
    if (this.#owner.phase !== 'live') return;
    this.#outgoing.push({ kind: 'text', text, bytes: encoder.encode(text).length });
  }

  sendBytes(line: Uint8Array): void {
    if (this.#owner.phase !== 'live') return;
    const message = line.subarray(0, line.length - NEWLINE_BYTES);
    this.#outgoing.push({ kind: 'text', text: decoder.decode(message), bytes: message.length });
  }

  sendBinary(frame: Uint8Array, rest: Uint8Array = NOTHING, onFree?: () => void): void {
    if (this.#owner.phase !== 'live') return;
    // A copy, as any wire makes one: the same frame may be on its way to others, and the receiver keeps what it gets.
    const copy = joinBytes(frame, rest);
    onFree?.();
    this.#outgoing.push({ kind: 'binary', frame: copy, bytes: copy.length });
  }

  get carriesObjects(): boolean {
    return this.#outgoing.takesObjects;
  }

  sendObject(object: object, bytes: number): void {
    if (this.#owner.phase === 'live') this.#outgoing.push({ kind: 'object', object, bytes });
  }

  pause(): void {
    this.#incoming.pause();
  }

  resume(): void {
    this.#incoming.resume();
  }

  close({ code = 1000, reason = '' }: CloseOptions = {}): void {
    if (!this.#owner.beginClose()) return;
    this.#outgoing.endAfterLast(describeClose(code, reason));
    this.#end(undefined);
  }

  destroy(reason: string): void {
    if (this.#owner.phase === 'ended') return;
    this.#outgoing.clear();
    this.#outgoing.endAfterLast(reason);
    this.#end(reason);
  }

  #receive(message: QueuedMessage): void {
    if (this.#limit !== undefined && message.bytes > this.#limit.bytes) {
      this.#refuse(new MessageTooLongError('message', this.#limit));
      return;
    }
    switch (message.kind) {
      case 'text':
        this.#owner.message(message.text);
        break;
      case 'binary':
        this.#owner.binary(message.frame);
        break;
      case 'object':
        this.#owner.object(message.object);
        break;
    }
  }

  #refuse({ message }: MessageTooLongError): void {
    this.#outgoing.endAfterLast(describeClose(CLOSE_TOO_LONG, message));
    this.#end(message);
  }

  #end(reason: string | undefined): void {
    this.#incoming.refuse();
    this.#owner.end(reason);
  }
}

type QueuedMessage = { readonly bytes: number } & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'binary'; readonly frame: Uint8Array }
  | { readonly kind: 'object'; readonly object: object }
);

interface QueueReader {
  message(message: QueuedMessage): void;
  end(reason: string | undefined): void;
  readonly takesObjects: boolean;
}

/** One direction of a pair: messages that were sent and not taken yet, and after them perhaps the end. */
class OneWayQueue {
  /** Tells the sender that a message was taken. */
  onTaken: () => void = () => {};
  readonly #messages = new Fifo<QueuedMessage>();
  #bytes = 0;
  #reader: QueueReader | undefined;
  #end: { reason: string | undefined } | undefined;
  #paused = false;
  #refused = false;
  #deliveryQueued = false;

  get bytes(): number {
    return this.#bytes;
  }

  /** False also until somebody reads. */
  get takesObjects(): boolean {
    return this.#reader?.takesObjects ?? false;
  }

  readInto(reader: QueueReader): void {
    this.#reader = reader;
    this.#deliverLater();
  }

  push(message: QueuedMessage): void {
    if (this.#refused) return;
    this.#messages.push(message);
    this.#bytes += message.bytes;
    this.#deliverLater();
  }

  endAfterLast(reason: string | undefined): void {
    this.#end ??= { reason };
    this.#deliverLater();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#deliverLater();
  }

  clear(): void {
    this.#messages.clear();
    this.#bytes = 0;
  }

  /** The reader is gone: nothing is kept any more. */
  refuse(): void {
    this.#refused = true;
    this.clear();
  }

  #deliverLater(): void {
    if (this.#deliveryQueued) return;
    this.#deliveryQueued = true;
    queueMicrotask(() => {
      this.#deliveryQueued = false;
      if (this.#reader !== undefined) this.#deliver(this.#reader);
    });
  }

  #deliver(reader: QueueReader): void {
    // Messages that the reader provokes wait for the next turn, so one side cannot starve the other.
    for (let due = this.#messages.length; due > 0 && !this.#paused; due--) {
      // The reader may have ended either side, which clears the queue.
      const message = this.#messages.shift();
      if (message === undefined) break;
      this.#bytes -= message.bytes;
      reader.message(message);
      this.onTaken();
    }
    if (this.#messages.length > 0) {
      if (!this.#paused) this.#deliverLater();
    } else if (this.#end !== undefined) {
      reader.end(this.#end.reason);
    }
  }
}
