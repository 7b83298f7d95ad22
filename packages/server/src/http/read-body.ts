import { finished, type Readable } from 'node:stream';
import { MAX_HTTP_DELTA_BYTES } from '@exec-server/protocol';
import type { ActiveRequest } from './active-requests.js';
import { HttpError } from './http-error.js';

/** Where the pieces of a streamed body go, in order. */
export interface BodySink {
  piece(data: Buffer): void;
  /** Nothing comes after this. `error` says why the body is not whole. */
  done(error: HttpError | undefined): void;
  /** False while the reader is behind; the server that sends the body then has to wait. */
  readonly writable: boolean;
  /** Resolves when the reader has caught up or is gone. */
  whenWritable(): Promise<void>;
}

/**
 * Bytes of a body that are gathered before they are handed on, if they come in within one turn of the loop. What is
 * handed on together leaves in one system call, and the reader is woken once for all of it.
 */
export const GATHERED_BYTES = 256 * 1024;

/** Hands a body on as it comes in and ends the request with it. Never rejects. */
export async function streamBody(body: Readable, sink: BodySink, request: ActiveRequest): Promise<void> {
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

function forwardBody(body: Readable, sink: BodySink): Promise<void> {
  return new Promise((resolve, reject) => {
    let gathered: Buffer[] = [];
    let gatheredBytes = 0;
    let turn: NodeJS.Immediate | undefined;
    const handOn = () => {
      clearImmediate(turn);
      turn = undefined;
      const chunks = gathered;
      gathered = [];
      gatheredBytes = 0;
      for (const chunk of chunks) {
        for (let at = 0; at < chunk.length; at += MAX_HTTP_DELTA_BYTES)
          sink.piece(chunk.subarray(at, at + MAX_HTTP_DELTA_BYTES));
      }
      if (sink.writable) return;
      body.pause();
      void sink.whenWritable().then(() => body.resume());
    };
    body.on('data', (chunk: Buffer) => {
      gathered.push(chunk);
      gatheredBytes += chunk.length;
      if (gatheredBytes >= GATHERED_BYTES) handOn();
      else turn ??= setImmediate(handOn);
    });
    finished(body, { writable: false }, (error) => {
      handOn();
      if (error === undefined || error === null) resolve();
      else reject(error);
    });
  });
}

/** Reads a body to its end. Rejects with an {@link HttpError} only. */
export async function collectBody(body: Readable, request: ActiveRequest): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of body) {
      request.buffer(chunk.length);
      chunks.push(chunk);
    }
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
