import { spareBuffers, spliceBase64 } from '@exec-server/rpc/node';
import type { HttpError } from '../../http/http-error.js';
import type { BodySink } from '../../http/read-body.js';
import type { ConnectionScope } from '../dialect.js';

const METHOD = 'http/request/bodyDelta';
const TAIL = Buffer.from('","done":false,"error":null}}\n');

/** Sends a body over a connection as `http/request/bodyDelta` notifications. */
export class JsonBodySink implements BodySink {
  readonly #head: Buffer;
  #seq = 0;

  constructor(
    private readonly connection: ConnectionScope,
    private readonly requestId: string,
  ) {
    this.#head = Buffer.from(
      `{"method":"${METHOD}","params":{"requestId":${JSON.stringify(requestId)},"seq":`,
    );
  }

  get writable(): boolean {
    return this.connection.writable;
  }

  whenWritable(): Promise<void> {
    return this.connection.whenWritable();
  }

  piece(data: Buffer): void {
    const line = spliceBase64(this.#head, `${++this.#seq},"deltaBase64":"`, data, TAIL);
    this.connection.sendBytes(line, () => spareBuffers.give(line));
  }

  done(error: HttpError | undefined): void {
    this.connection.notify(METHOD, {
      requestId: this.requestId,
      seq: ++this.#seq,
      deltaBase64: '',
      done: true,
      error: error?.message ?? null,
    });
  }
}
