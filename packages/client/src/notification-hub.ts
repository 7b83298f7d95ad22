import {
  decodeBase64,
  type NotificationParams,
  type OutputFrame,
  type ServerNotificationName,
} from '@exec-server/protocol';

/** A notification of the server, its params by its method. */
export type ServerNotification = {
  [N in ServerNotificationName]: { readonly method: N; readonly params: NotificationParams<N> };
}[ServerNotificationName];

/** Takes the notifications of one name. */
export type NotificationListener<N extends ServerNotificationName> = (params: NotificationParams<N>) => void;

/** A piece of output of a process, whichever way it came. */
export type ProcessOutput = OutputFrame;

/** Takes output as bytes. */
export type OutputListener = (output: ProcessOutput) => void;

type AnyListener = (params: unknown) => void;

/**
 * Hands notifications and output to those who listen, in order of arrival. Until `release` it holds them, because a resumed session sends before its
 * client has had a chance to listen.
 */
export class NotificationHub {
  readonly #listeners = new Map<ServerNotificationName, Set<AnyListener>>();
  readonly #outputListeners = new Set<OutputListener>();
  readonly #onEach: ((notification: ServerNotification) => void) | undefined;
  #held: (() => void)[] | undefined = [];

  constructor(onEach: ((notification: ServerNotification) => void) | undefined) {
    this.#onEach = onEach;
  }

  /** True until `release`. */
  get isHolding(): boolean {
    return this.#held !== undefined;
  }

  /** Messages that wait for `release`. */
  get heldCount(): number {
    return this.#held?.length ?? 0;
  }

  on<N extends ServerNotificationName>(name: N, listener: NotificationListener<N>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set<AnyListener>();
    this.#listeners.set(name, listeners);
    // A function of its own, so that one listener may be added twice and each be removed alone.
    const entry: AnyListener = (params) => listener(params as NotificationParams<N>);
    listeners.add(entry);
    return () => void listeners.delete(entry);
  }

  onOutput(listener: OutputListener): () => void {
    const entry: OutputListener = (output) => listener(output);
    this.#outputListeners.add(entry);
    return () => void this.#outputListeners.delete(entry);
  }

  publish(notification: ServerNotification): void {
    this.#holdOrDeliver(() => this.#deliver(notification));
  }

  /** Publishes output that came as a binary frame, which is no notification. */
  publishOutput(output: ProcessOutput): void {
    this.#holdOrDeliver(() => this.#deliverOutput(output));
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const deliver of held) deliver();
  }

  #holdOrDeliver(deliver: () => void): void {
    if (this.#held === undefined) deliver();
    else this.#held.push(deliver);
  }

  #deliver(notification: ServerNotification): void {
    if (this.#onEach !== undefined) surfaceErrors(() => this.#onEach?.(notification));
    // A copy, so that who is added while being told waits for the next one.
    const listeners = Array.from(this.#listeners.get(notification.method) ?? []);
    for (const listener of listeners) surfaceErrors(() => listener(notification.params));
    if (notification.method === 'process/output' && this.#outputListeners.size > 0)
      this.#deliverOutput(decodeOutput(notification.params));
  }

  #deliverOutput(output: ProcessOutput): void {
    for (const listener of Array.from(this.#outputListeners)) surfaceErrors(() => listener(output));
  }
}

function decodeOutput(params: NotificationParams<'process/output'>): ProcessOutput {
  const { processId, sessionId, seq, stream, chunk } = params;
  const session = sessionId === undefined || sessionId === null ? {} : { sessionId };
  return { processId, ...session, seq, stream, data: decodeBase64(chunk) };
}

/** As with `EventTarget`: what a listener throws is an uncaught exception of the program and stops no other listener. */
export function surfaceErrors(listen: () => void): void {
  try {
    listen();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
