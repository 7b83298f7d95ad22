import { createMemoryTransportPair, type Transport } from '@exec-server/rpc';

/** A message as the other side of a client sees it. */
export interface SeenMessage {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** The far end of a memory connection, driven by the test. */
export interface ScriptedServer {
  /** The client's end. */
  readonly transport: Transport;
  readonly far: Transport;
  readonly seen: SeenMessage[];
  readonly closed: Promise<string | undefined>;
  readonly send: (...messages: unknown[]) => void;
  /** Resolves with the first message, seen or yet to come, that fits. */
  find(fits: (message: SeenMessage) => boolean): Promise<SeenMessage>;
}

/** `onMessage` answers what the client sends; by default nobody does. */
export function scriptServer(
  onMessage?: (message: SeenMessage, server: ScriptedServer) => void,
): ScriptedServer {
  const [transport, far] = createMemoryTransportPair('exec-server test', 'client');
  const seen: SeenMessage[] = [];
  let waiters: { fits: (message: SeenMessage) => boolean; resolve: (message: SeenMessage) => void }[] = [];
  const closed = new Promise<string | undefined>((resolve) => {
    far.open({
      onMessage(text) {
        const message = JSON.parse(text) as SeenMessage;
        seen.push(message);
        for (const waiter of waiters) if (waiter.fits(message)) waiter.resolve(message);
        waiters = waiters.filter((waiter) => !waiter.fits(message));
        onMessage?.(message, server);
      },
      onMalformed() {},
      onDrain() {},
      onClose: resolve,
    });
  });
  const server: ScriptedServer = {
    transport,
    far,
    seen,
    closed,
    send(...messages) {
      for (const message of messages) far.send(JSON.stringify(message));
    },
    find(fits) {
      const found = seen.find(fits);
      if (found !== undefined) return Promise.resolve(found);
      return new Promise((resolve) => waiters.push({ fits, resolve }));
    },
  };
  return server;
}

/** A server that accepts any `initialize` at once and answers nothing else. */
export function scriptAcceptingServer(
  result: unknown = { sessionId: 's-1' },
  onMessage?: (message: SeenMessage, server: ScriptedServer) => void,
): ScriptedServer {
  return scriptServer((message, server) => {
    if (message.method === 'initialize') server.send({ id: message.id, result });
    else onMessage?.(message, server);
  });
}
