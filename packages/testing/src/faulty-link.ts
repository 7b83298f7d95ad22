import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_DELAY_MS, type Direction, type Fault, type FaultAction } from './fault.js';
import { resetSocket } from './reset-socket.js';
import type { WireSplitter, WireUnit } from './wire-splitter.js';

/** What a link needs of its proxy. */
export interface FaultyLinkOptions {
  /** Its place in the order of arrival, from 1. */
  readonly number: number;
  readonly createSplitter: () => WireSplitter;
  /** Faults that have not struck yet; read each time. */
  readonly pending: readonly Fault[];
  /** A fault strikes. */
  onFault(fault: Fault): void;
  /** The client is gone and the server has not been told. */
  onStranded(server: Socket): void;
  /** Both sides are done. */
  onEnd(): void;
}

/** One connection through the proxy. */
export class FaultyLink {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #options: FaultyLinkOptions;
  /** Set once nothing passes any more. */
  #over = false;
  /** Set once everything that is said goes nowhere. */
  #swallows = false;

  constructor(client: Socket, server: Socket, options: FaultyLinkOptions) {
    this.#client = client;
    this.#server = server;
    this.#options = options;
    for (const socket of [client, server]) socket.on('error', () => {}).setNoDelay(true);
    const both = [this.#carry('toServer', client, server), this.#carry('toClient', server, client)];
    void Promise.all(both).then(() => this.#end());
  }

  /** Ends both sides as a crashed host does. */
  reset(): void {
    this.#over = true;
    resetSocket(this.#client);
    resetSocket(this.#server);
  }

  /** From here on what either side says goes nowhere, and neither learns of the end of the other. */
  swallow(): void {
    this.#swallows = true;
  }

  #end(): void {
    // Nobody has told these two of the end of the other.
    if (this.#swallows) this.reset();
    this.#options.onEnd();
  }

  /** Passes one direction on until its end. */
  async #carry(direction: Direction, from: Socket, to: Socket): Promise<void> {
    const lane: Lane = { direction, to, passedBytes: 0, messages: 0 };
    const splitter = this.#options.createSplitter();
    try {
      // Not destroyed on the way out: a stranded server keeps its socket.
      for await (const chunk of from.iterator({ destroyOnReturn: false })) {
        for (const unit of splitter.push(chunk as Buffer)) {
          await this.#pass(lane, unit);
          if (this.#over) return;
        }
      }
      if (!this.#swallows) lane.to?.end();
    } catch {
      // Whichever side broke, the other learns of it the same way.
      if (!this.#over && !this.#swallows) this.reset();
    }
  }

  async #pass(lane: Lane, unit: WireUnit): Promise<void> {
    if (this.#swallows) return;
    if (unit.message !== undefined) lane.messages++;
    const fault = this.#findFault(lane, unit);
    if (fault === undefined) {
      await send(lane, unit.bytes);
      return;
    }
    this.#options.onFault(fault);
    const passing = countPassing(fault, lane, unit);
    await send(lane, unit.bytes.subarray(0, passing));
    if (fault.action === 'delay') {
      await delay(fault.delayMs ?? DEFAULT_DELAY_MS);
      await send(lane, unit.bytes.subarray(passing));
    } else {
      this.#strike(fault.action, lane);
    }
  }

  #findFault({ direction, passedBytes, messages }: Lane, { bytes, message }: WireUnit): Fault | undefined {
    return this.#options.pending.find(({ connection, at, ...fault }) => {
      if (fault.direction !== direction) return false;
      if (connection !== undefined && connection !== this.#options.number) return false;
      if ('bytes' in at) return passedBytes + bytes.length > at.bytes;
      if (message === undefined) return false;
      return 'message' in at ? messages >= at.message : at.matching(message);
    });
  }

  #strike(action: Exclude<FaultAction, 'delay'>, lane: Lane): void {
    switch (action) {
      case 'cut':
        this.reset();
        break;
      case 'cutAfter':
      case 'truncate':
        this.#over = true;
        // In good order on the side of the receiver: a reset could overtake what was passed on.
        lane.to?.destroySoon();
        resetSocket(lane.direction === 'toClient' ? this.#server : this.#client);
        break;
      case 'halfClose':
        lane.to?.end();
        // What still comes this way goes nowhere, but is read, so that its sender does not get stuck.
        lane.to = undefined;
        break;
      case 'blackHole':
        this.swallow();
        break;
      case 'strand':
        this.#over = true;
        resetSocket(this.#client);
        this.#options.onStranded(this.#server);
        break;
    }
  }
}

interface Lane {
  readonly direction: Direction;
  /** Absent once the direction was closed. */
  to: Socket | undefined;
  passedBytes: number;
  messages: number;
}

/** How much of the unit still gets through. */
function countPassing({ action, at }: Fault, { passedBytes }: Lane, { bytes }: WireUnit): number {
  if (action === 'cutAfter') return bytes.length;
  if ('bytes' in at) return Math.max(0, at.bytes - passedBytes);
  return action === 'truncate' ? Math.floor(bytes.length / 2) : 0;
}

/** Resolves when the system has taken the bytes, or the socket is gone. */
async function send(lane: Lane, bytes: Buffer): Promise<void> {
  const { to } = lane;
  lane.passedBytes += bytes.length;
  if (to === undefined || bytes.length === 0) return;
  await new Promise<void>((resolve) => to.write(bytes, () => resolve()));
}
