import type { NotificationParams, ServerNotificationName } from '@exec-server/protocol';

/** A notification of the server, its params by its method. */
export type ServerNotification = {
  [N in ServerNotificationName]: { readonly method: N; readonly params: NotificationParams<N> };
}[ServerNotificationName];

/** Takes the notifications of one name. */
export type NotificationListener<N extends ServerNotificationName> = (params: NotificationParams<N>) => void;

type AnyListener = (params: unknown) => void;

/**
 * Hands notifications to those who listen. Until `release` it holds them, because a resumed session sends before its
 * client has had a chance to listen.
 */
export class NotificationHub {
  readonly #listeners = new Map<ServerNotificationName, Set<AnyListener>>();
  readonly #onEach: ((notification: ServerNotification) => void) | undefined;
  #held: ServerNotification[] | undefined = [];

  constructor(onEach: ((notification: ServerNotification) => void) | undefined) {
    this.#onEach = onEach;
  }

  /** Notifications that wait for `release`. */
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

  publish(notification: ServerNotification): void {
    if (this.#held === undefined) this.#deliver(notification);
    else this.#held.push(notification);
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const notification of held) this.#deliver(notification);
  }

  #deliver(notification: ServerNotification): void {
    if (this.#onEach !== undefined) surfaceErrors(() => this.#onEach?.(notification));
    // A copy, so that who is added while being told waits for the next one.
    const listeners = Array.from(this.#listeners.get(notification.method) ?? []);
    for (const listener of listeners) surfaceErrors(() => listener(notification.params));
  }
}

/** As with `EventTarget`: what a listener throws is an uncaught exception of the program and stops no other listener. */
function surfaceErrors(listen: () => void): void {
  try {
    listen();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
