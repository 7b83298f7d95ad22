import type { CloseOptions, Transport, TransportHandlers } from '@exec-server/rpc';
import { createLineTransport } from '@exec-server/rpc/node';
import { settlesWithin } from './settles-within.js';
import { type SpawnedServer, TERMINATE_GRACE_MS } from './spawned-server.js';

/** How long a server that has closed its stdout may take to end by itself, so that its own exit code is told. */
const OWN_END_MS = 250;

/** Lines over the pipes of a server that lives as long as the connection: whichever way it ends, the server does too. */
export function createSpawnedTransport(server: SpawnedServer): Transport {
  return new SpawnedTransport(server);
}

class SpawnedTransport implements Transport {
  readonly framing = 'lines';
  readonly label = 'exec-server stdio';
  readonly #lines: Transport;
  readonly #server: SpawnedServer;
  #endedByOwner = false;

  constructor(server: SpawnedServer) {
    this.#server = server;
    this.#lines = createLineTransport({
      input: server.stdout,
      output: server.stdin,
      label: this.label,
      unfinishedLine: 'broken',
      closeTimeoutMs: TERMINATE_GRACE_MS,
    });
  }

  get bufferedBytes(): number {
    return this.#lines.bufferedBytes;
  }

  /** Without `onEnd`: a server that stops talking is about to end, and the reason for that is worth the wait. */
  open(handlers: TransportHandlers): void {
    this.#lines.open({
      onMessage: (text) => handlers.onMessage(text),
      onMalformed: (detail) => handlers.onMalformed(detail),
      onDrain: () => handlers.onDrain(),
      onClose: (reason) => void this.#endServer(reason).then((end) => handlers.onClose(end)),
    });
  }

  send(text: string): void {
    this.#lines.send(text);
  }

  sendBytes(line: Uint8Array): void {
    this.#lines.sendBytes(line);
  }

  measureActivity(untilNextMs: number): number {
    return this.#lines.measureActivity?.(untilNextMs) ?? 0;
  }

  pause(): void {
    this.#lines.pause();
  }

  resume(): void {
    this.#lines.resume();
  }

  close(options?: CloseOptions): void {
    this.#endedByOwner = true;
    this.#lines.close(options);
  }

  destroy(reason: string): void {
    this.#endedByOwner = true;
    this.#lines.destroy(reason);
    // Not left to the end of the lines, which nobody hears of unless the transport was opened.
    void this.#server.terminate();
  }

  async #endServer(reason: string | undefined): Promise<string | undefined> {
    const endedByItself = !this.#endedByOwner && (await settlesWithin(this.#server.exited, OWN_END_MS));
    const end = endedByItself ? await this.#server.describeEnd() : undefined;
    await this.#server.terminate();
    return end ?? reason;
  }
}
