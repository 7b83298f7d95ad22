import { before } from './deadline.js';

/** A message of the wire as a test sees it: unchecked, by its members. */
export interface WireMessage {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export type MessagePredicate = (message: WireMessage) => boolean;

interface Waiter {
  readonly predicate: MessagePredicate;
  readonly resolve: (message: WireMessage) => void;
  readonly reject: (error: Error) => void;
}

/** Messages listed in the text of a failed wait; older ones are counted only. */
const LISTED_MESSAGES = 20;
/** Longest listed message, in characters. */
const LISTED_MESSAGE_LENGTH = 300;

/** Everything a peer received, in order, and the tests that wait for the next of a kind. */
export class Inbox {
  readonly #received: WireMessage[] = [];
  readonly #waiters = new Set<Waiter>();
  #unread: WireMessage[] = [];
  #ended: string | undefined;

  /** Every message so far, also those that `next` handed out. */
  get received(): readonly WireMessage[] {
    return this.#received;
  }

  /** The messages that no `next` has taken yet. */
  get unread(): readonly WireMessage[] {
    return this.#unread;
  }

  deliver(message: WireMessage): void {
    this.#received.push(message);
    for (const waiter of this.#waiters) {
      if (!waiter.predicate(message)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(message);
      return;
    }
    this.#unread.push(message);
  }

  /** No message comes any more: whoever still waits is told why. */
  end(reason: string): void {
    this.#ended ??= reason;
    for (const waiter of this.#waiters) waiter.reject(new Error(this.#ended));
    this.#waiters.clear();
  }

  /**
   * The first message not taken yet that fits; it is taken by this call. When none arrives in time the
   * failure names `what` and lists what did arrive.
   */
  async next(predicate: MessagePredicate, what: string, deadlineMs?: number): Promise<WireMessage> {
    const at = this.#unread.findIndex(predicate);
    const found = this.#unread[at];
    if (found !== undefined) {
      this.#unread = this.#unread.toSpliced(at, 1);
      return found;
    }
    if (this.#ended !== undefined) throw this.#failure(what, this.#ended);
    let waiter: Waiter | undefined;
    const arrival = new Promise<WireMessage>((resolve, reject) => {
      waiter = { predicate, resolve, reject };
      this.#waiters.add(waiter);
    }).catch((error: Error) => {
      throw this.#failure(what, error.message);
    });
    return before(
      arrival,
      () => {
        if (waiter !== undefined) this.#waiters.delete(waiter);
        return this.#failure(what, 'the deadline passed');
      },
      deadlineMs,
    );
  }

  /** Takes all messages that fit and have already arrived. */
  takeUnread(predicate: MessagePredicate): WireMessage[] {
    const taken = this.#unread.filter(predicate);
    this.#unread = this.#unread.filter((message) => !predicate(message));
    return taken;
  }

  #failure(what: string, why: string): Error {
    const listed = this.#received
      .slice(-LISTED_MESSAGES)
      .map((message) => `  ${JSON.stringify(message).slice(0, LISTED_MESSAGE_LENGTH)}`);
    const count = this.#received.length;
    const heading = count === 0 ? 'nothing was received' : `received ${count}, the last of them:`;
    return new Error([`waited for ${what}, but ${why}; ${heading}`, ...listed].join('\n'));
  }
}

/** Whether `message` answers the request `id`. */
export function isResponseTo(id: string | number): MessagePredicate {
  return (message) => message.method === undefined && message.id === id;
}
