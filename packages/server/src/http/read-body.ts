import { MAX_HTTP_DELTA_BYTES } from '@exec-server/protocol';
import type { ActiveRequest } from './active-requests.js';
import type { HttpBody } from './http-body.js';
import { HttpError } from './http-error.js';

/** Where the pieces of a streamed body go, in order. */
export interface BodySink {
  /** The bytes are good for the time of the call only. */
  piece(data: Buffer): void;
  /** Nothing comes after this. `error` says why the body is not whole. */
  done(error: HttpError | undefined): void;
  /** False while the reader is behind; the server that sends the body then has to wait. */
  readonly writable: boolean;
  /** Resolves when the reader has caught up or is gone. */
  whenWritable(): Promise<void>;
}

/** Hands a body on as it comes in and ends the request with it. Never rejects. */
export async function streamBody(body: HttpBody, sink: BodySink, request: ActiveRequest): Promise<void> {
  let error: HttpError | undefined;
  try {
    await forwardBody(body, sink);
  } catch (cause) {
    error = bodyError(request, cause);
  }
  // Before the last word, so that whoever hears it finds the id free.
  request.end();
  sink.done(error);
}

function forwardBody(body: HttpBody, sink: BodySink): Promise<void> {
  let waits = false;
  return body.read((bytes) => {
    for (let at = 0; at < bytes.length; at += MAX_HTTP_DELTA_BYTES)
      sink.piece(bytes.subarray(at, at + MAX_HTTP_DELTA_BYTES));
    if (sink.writable || waits) return;
    waits = true;
    body.pause();
    void sink.whenWritable().then(() => {
      waits = false;
      body.resume();
    });
  });
}

/** Reads a body to its end. Rejects with an {@link HttpError} only. */
export async function collectBody(body: HttpBody, request: ActiveRequest): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    await body.read((bytes) => {
      request.buffer(bytes.length);
      chunks.push(Buffer.from(bytes));
    });
  } catch (cause) {
    throw bodyError(request, cause);
  }
  return Buffer.concat(chunks);
}

function bodyError({ signal }: ActiveRequest, cause: unknown): HttpError {
  if (cause instanceof HttpError) return cause;
  if (signal.reason instanceof HttpError) return signal.reason;
  return new HttpError('body', 'error decoding response body', { cause });
}
