import { describeClose } from './close-reason.js';
import type { CloseOptions, Transport, TransportHandlers } from './transport.js';
import { TransportOwner } from './transport-owner.js';

interface QueuedMessage {
  readonly text: string;
  readonly bytes: number;
}

const NEWLINE_BYTES = 1;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Two transports joined in memory: what one sends the other receives, in order, never within the call that sent it.
 * A message counts as buffered until the other side has been given it.
 */
export function createMemoryTransportPair(labelA = 'memory a', labelB = 'memory b'): [Transport, Transport] {
  const a = new MemoryTransport(labelA);
  const b = new MemoryTransport(labelB);
  a.join(b);
  b.join(a);
  return [a, b];
}

class MemoryTransport implements Transport {
  readonly framing = 'memory';
  readonly label: string;
  readonly #owner = new TransportOwner();
  #other: MemoryTransport = this;
  /** What the other side has sent and this side has not been given yet. */
  #inbox: QueuedMessage[] = [];
  #inboxBytes = 0;
  #paused = false;
  #deliveryQueued = false;
  /** Set once the other side has closed; the end is told after the last message. */
  #remoteEnd: { reason: string | undefined } | undefined;

  constructor(label: string) {
    this.label = label;
  }

  join(other: MemoryTransport): void {
    this.#other = other;
  }

  get bufferedBytes(): number {
    return this.#owner.phase === 'live' ? this.#other.#inboxBytes : 0;
  }

  open(handlers: TransportHandlers): void {
    this.#owner.open(handlers);
    this.#queueDelivery();
  }

  send(text: string): void {
    if (this.#owner.phase === 'live') this.#other.#receive({ text, bytes: encoder.encode(text).length });
  }

  sendBytes(line: Uint8Array): void {
    if (this.#owner.phase !== 'live') return;
    const message = line.subarray(0, line.length - NEWLINE_BYTES);
    this.#other.#receive({ text: decoder.decode(message), bytes: message.length });
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#queueDelivery();
  }

  close({ code = 1000, reason = '' }: CloseOptions = {}): void {
    if (!this.#owner.beginClose()) return;
    this.#other.#endAfterLast(describeClose(code, reason));
    this.#end(undefined);
  }

  destroy(reason: string): void {
    if (this.#owner.phase === 'ended') return;
    this.#other.#dropInbox();
    this.#other.#endAfterLast(reason);
    this.#end(reason);
  }

  #receive(message: QueuedMessage): void {
    if (this.#owner.phase !== 'live') return;
    this.#inbox.push(message);
    this.#inboxBytes += message.bytes;
    this.#queueDelivery();
  }

  #queueDelivery(): void {
    if (this.#deliveryQueued) return;
    this.#deliveryQueued = true;
    queueMicrotask(() => {
      this.#deliveryQueued = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    if (!this.#owner.isPresent) return;
    // Messages that handlers provoke wait for the next turn, so one side cannot starve the other.
    for (let due = this.#inbox.length; due > 0 && !this.#paused; due--) {
      // A handler may have ended either side, which empties the inbox.
      const message = this.#inbox.shift();
      if (message === undefined) break;
      this.#inboxBytes -= message.bytes;
      this.#owner.message(message.text);
      this.#other.#owner.drained();
    }
    if (this.#inbox.length > 0) {
      if (!this.#paused) this.#queueDelivery();
    } else if (this.#remoteEnd !== undefined) {
      this.#end(this.#remoteEnd.reason);
    }
  }

  #endAfterLast(reason: string | undefined): void {
    if (this.#owner.phase !== 'live') return;
    this.#remoteEnd ??= { reason };
    this.#queueDelivery();
  }

  #dropInbox(): void {
    this.#inbox = [];
    this.#inboxBytes = 0;
  }

  #end(reason: string | undefined): void {
    this.#dropInbox();
    this.#owner.end(reason);
  }
}
