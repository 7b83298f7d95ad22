import type { HttpError } from '../../http/http-error.js';
import type { BodySink } from '../../http/read-body.js';
import type { ConnectionScope } from '../dialect.js';

const METHOD = 'http/request/bodyDelta';
const TAIL = '","done":false,"error":null}}\n';

/** Sends a body over a connection as `http/request/bodyDelta` notifications. */
export class JsonBodySink implements BodySink {
  readonly #head: string;
  #seq = 0;

  constructor(
    private readonly connection: ConnectionScope,
    private readonly requestId: string,
  ) {
    this.#head = `{"method":"${METHOD}","params":{"requestId":${JSON.stringify(requestId)},"seq":`;
  }

  get writable(): boolean {
    return this.connection.writable;
  }

  whenWritable(): Promise<void> {
    return this.connection.whenWritable();
  }

  /** Base64 never needs escaping, so it is spliced in; `JSON.stringify` would look through all of it. */
  piece(data: Buffer): void {
    const line = `${this.#head}${++this.#seq},"deltaBase64":"${data.toString('base64')}${TAIL}`;
    this.connection.sendBytes(Buffer.from(line));
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
