import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { MessageReader } from './message-reader.js';

type Done = (error?: Error | null) => void;

/** A socket without the messages that come over it, which a {@link MessageReader} takes. Owns the socket. */
export class FilteredStream extends Duplex {
  readonly #socket: Socket;

  /** @param head what was read of the socket already */
  constructor(socket: Socket, head: Buffer, reader: MessageReader) {
    super({ allowHalfOpen: socket.allowHalfOpen });
    this.#socket = socket;
    this.on('pause', () => socket.pause());
    this.on('resume', () => socket.resume());
    socket.on('data', (chunk: Buffer) => {
      if (!reader.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
    socket.on('timeout', () => this.emit('timeout'));
    socket.pause();
    if (head.length > 0) reader.push(head);
    if (socket.readableEnded) this.push(null);
  }

  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  setTimeout(timeoutMs: number): void {
    this.#socket.setTimeout(timeoutMs);
  }

  override _read(): void {
    if (!this.isPaused()) this.#socket.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: Done): void {
    this.#socket.write(chunk, encoding, done);
  }

  override _writev(chunks: { chunk: Buffer; encoding: BufferEncoding }[], done: Done): void {
    const last = chunks.length - 1;
    this.#socket.cork();
    for (const [index, { chunk, encoding }] of chunks.entries())
      this.#socket.write(chunk, encoding, index === last ? done : undefined);
    this.#socket.uncork();
  }

  override _final(done: Done): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#socket.destroy();
    done(error);
  }
}
