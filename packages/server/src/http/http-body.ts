import { finished, type Readable } from 'node:stream';

/** The body of a response as it comes in. */
export interface HttpBody {
  /**
   * Hands all of it to `take`, in order and once. The bytes are good for the time of the call only. Resolves at the end
   * of the body; rejects when it ends early, or with what `take` throws, and reads no further.
   */
  read(take: (bytes: Buffer) => void): Promise<void>;
  /** Has the server that sends the body wait. */
  pause(): void;
  resume(): void;
}

/**
 * Bytes of a body that are gathered before they are handed on, if they come in within one turn of the loop. What is
 * handed on together leaves in one system call, and the reader is woken once for all of it.
 */
export const GATHERED_BYTES = 256 * 1024;

/** The body that Node's parser reads, or any other stream of bytes. */
export class StreamedBody implements HttpBody {
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;
  #turn: NodeJS.Immediate | undefined;

  constructor(private readonly stream: Readable) {}

  read(take: (bytes: Buffer) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const handOn = () => {
        try {
          this.#handOn(take);
        } catch (error) {
          reject(error);
          this.stream.destroy();
        }
      };
      this.stream.on('data', (chunk: Buffer) => {
        this.#gathered.push(chunk);
        this.#gatheredBytes += chunk.length;
        if (this.#gatheredBytes >= GATHERED_BYTES) handOn();
        else this.#turn ??= setImmediate(handOn);
      });
      finished(this.stream, { writable: false }, (error) => {
        handOn();
        if (error === undefined || error === null) resolve();
        else reject(error);
      });
    });
  }

  pause(): void {
    this.stream.pause();
  }

  resume(): void {
    this.stream.resume();
  }

  #handOn(take: (bytes: Buffer) => void): void {
    clearImmediate(this.#turn);
    this.#turn = undefined;
    const chunks = this.#gathered;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    for (const chunk of chunks) take(chunk);
  }
}
