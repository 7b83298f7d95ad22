import type { Transport } from '../../src/index.js';

/** What a transport has told its owner so far, and promises for what it has yet to tell. */
export interface TransportRecord {
  readonly messages: string[];
  readonly malformed: string[];
  /** How often bytes left the queue. */
  readonly drains: () => number;
  readonly closed: Promise<string | undefined>;
  /** Resolves with all messages once there are `count`. */
  until(count: number): Promise<string[]>;
  /** Resolves once `condition` holds, looked at whenever the transport tells anything. */
  when(condition: () => boolean): Promise<void>;
}

/** Opens a transport and keeps what it tells. */
export function recordTransport(
  transport: Transport,
  hooks: {
    onMessage?: (text: string) => void;
    onBinary?: (frame: Uint8Array) => void;
    onObject?: (message: object) => void;
    onEnd?: () => void;
  } = {},
): TransportRecord {
  const messages: string[] = [];
  const malformed: string[] = [];
  let drains = 0;
  let waiters: { condition: () => boolean; resolve: () => void }[] = [];
  const look = () => {
    const due = waiters.filter((waiter) => waiter.condition());
    waiters = waiters.filter((waiter) => !due.includes(waiter));
    for (const waiter of due) waiter.resolve();
  };
  const when = (condition: () => boolean) =>
    new Promise<void>((resolve) => {
      waiters.push({ condition, resolve });
      look();
    });
  const closed = new Promise<string | undefined>((resolve) => {
    transport.open({
      onMessage(text) {
        messages.push(text);
        hooks.onMessage?.(text);
        look();
      },
      onMalformed(detail) {
        malformed.push(detail);
        look();
      },
      onDrain() {
        drains++;
        look();
      },
      ...(hooks.onEnd && { onEnd: hooks.onEnd }),
      ...(hooks.onBinary && {
        onBinary(frame: Uint8Array) {
          hooks.onBinary?.(frame);
          look();
        },
      }),
      ...(hooks.onObject && {
        onObject(message: object) {
          hooks.onObject?.(message);
          look();
        },
      }),
      onClose(reason) {
        resolve(reason);
        look();
      },
    });
  });
  return {
    messages,
    malformed,
    drains: () => drains,
    closed,
    when,
    async until(count) {
      await when(() => messages.length >= count);
      return messages;
    },
  };
}
