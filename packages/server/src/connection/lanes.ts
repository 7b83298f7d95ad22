import type { WorkSlices } from '@exec-server/rpc';

/** What a running request may do with its place. */
export interface Place {
  /** Gives the place up while `wait` is pending, so that a request that waits never delays another. */
  park<T>(wait: Promise<T>): Promise<T>;
}

/** The connection that answers are queued to. */
export interface AnswerQueue {
  /** False while the other side is behind in reading. */
  readonly writable: boolean;
  whenWritable(): Promise<void>;
}

/** The share of each turn of the loop in which requests may be begun. */
export type TurnShare = Pick<WorkSlices, 'hasTime' | 'deferFirst'>;

export interface LaneLimits {
  /** Ordinary requests that run at once. */
  readonly concurrentRequests: number;
  /** Requests queued, running or waiting, per lane. */
  readonly pendingRequests: number;
  /** Message bytes of those. */
  readonly pendingRequestBytes: number;
}

type Job = (place: Place) => Promise<void>;

/**
 * The order in which the requests of one connection run. Ordinary ones start in arrival order, a bounded number at
 * once, and none starts while the other side does not take answers or after the connection's share of a turn of the loop;
 * control requests start at once, always.
 */
export class Lanes {
  readonly #arrived: (() => void)[] = [];
  readonly #resumed: (() => void)[] = [];
  readonly #pending = { control: 0, ordinary: 0 };
  #running = 0;
  #pendingBytes = 0;
  #waitsForQueue = false;
  #waitsForTurn = false;

  /** @param onPendingBytes told the message bytes of the requests that are pending, whenever they change */
  constructor(
    private readonly limits: LaneLimits,
    private readonly queue: AnswerQueue,
    private readonly turns: TurnShare,
    private readonly onPendingBytes: (bytes: number) => void = () => {},
  ) {}

  /** Requests that have not been answered yet. */
  get pending(): number {
    return this.#pending.control + this.#pending.ordinary;
  }

  /**
   * Takes a request of `bytes` size. False when too many are pending: nothing of it runs then. Each lane has its own
   * count, so that whoever filled the ordinary one can still end what fills it.
   */
  submit(lane: 'control' | 'ordinary', bytes: number, job: Job): boolean {
    if (this.#pending[lane] >= this.limits.pendingRequests) return false;
    if (this.#pendingBytes > 0 && this.#pendingBytes + bytes > this.limits.pendingRequestBytes) return false;
    this.#count(lane, 1, bytes);
    const settle = () => this.#count(lane, -1, -bytes);
    if (lane === 'control') void job({ park: (wait) => wait }).finally(settle);
    else {
      this.#arrived.push(() => void this.#run(job).finally(settle));
      this.#pump();
    }
    return true;
  }

  #count(lane: 'control' | 'ordinary', requests: number, bytes: number): void {
    this.#pending[lane] += requests;
    this.#pendingBytes += bytes;
    this.onPendingBytes(this.#pendingBytes);
  }

  async #run(job: Job): Promise<void> {
    let placed = true;
    const leave = () => {
      if (!placed) return;
      placed = false;
      this.#running--;
      this.#pump();
    };
    const park = async <T>(wait: Promise<T>): Promise<T> => {
      leave();
      try {
        return await wait;
      } finally {
        await new Promise<void>((resolve) => {
          this.#resumed.push(resolve);
          this.#pump();
        });
        placed = true;
      }
    };
    try {
      await job({ park });
    } finally {
      leave();
    }
  }

  #pump(): void {
    while (this.#running < this.limits.concurrentRequests) {
      if (this.#resumed.length + this.#arrived.length === 0) return;
      if (!this.queue.writable) {
        this.#pumpWhenWritable();
        return;
      }
      if (!this.turns.hasTime) {
        this.#pumpInNextTurn();
        return;
      }
      const start = this.#resumed.shift() ?? this.#arrived.shift();
      this.#running++;
      start?.();
    }
  }

  /** Before more messages are looked at: otherwise a flood of them would keep those that wait from beginning. */
  #pumpInNextTurn(): void {
    if (this.#waitsForTurn) return;
    this.#waitsForTurn = true;
    this.turns.deferFirst(() => {
      this.#waitsForTurn = false;
      this.#pump();
    });
  }

  #pumpWhenWritable(): void {
    if (this.#waitsForQueue) return;
    this.#waitsForQueue = true;
    void this.queue.whenWritable().then(() => {
      this.#waitsForQueue = false;
      this.#pump();
    });
  }
}
