import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import { usageError } from '../usage.js';

/** What can be sent as the body of a request: whatever a `Response` can be made of. */
export type FetchBody = ConstructorParameters<typeof Response>[0];

/**
 * Largest body of a request, in bytes. It goes over the wire as a part of one message, which may have 64 MiB with a
 * third of that for its encoding. A stream is collected up to here before anything is sent.
 */
export const MAX_REQUEST_BODY_BYTES = 47 * 1024 * 1024;

/** A body as it goes over the wire. */
export interface RequestBody {
  readonly bytes: Uint8Array;
  /** What the kind of the body says of it, e.g. that of a form. */
  readonly contentType: string | undefined;
}

/** Collects a body. Throws `usage` for one that is too large. */
export async function collectBody(
  body: FetchBody | undefined,
  signal: AbortSignal | undefined,
): Promise<RequestBody | undefined> {
  if (body === undefined || body === null) return undefined;
  const carrier = new Response(body);
  const contentType = carrier.headers.get('content-type') ?? undefined;
  const pieces: Uint8Array[] = [];
  let length = 0;
  const reader = carrier.body?.getReader();
  const cancel = () => void reader?.cancel(signal?.reason).catch(() => {});
  addAbortListener(signal, cancel);
  try {
    for (;;) {
      const piece = await reader?.read();
      signal?.throwIfAborted();
      if (piece === undefined || piece.done) break;
      pieces.push(piece.value);
      length += piece.value.length;
      if (length > MAX_REQUEST_BODY_BYTES) {
        cancel();
        throw usageError(`the body of a request must not exceed ${MAX_REQUEST_BODY_BYTES} bytes`);
      }
    }
  } finally {
    removeAbortListener(signal, cancel);
  }
  return { bytes: concatenate(pieces, length), contentType };
}

function concatenate(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
