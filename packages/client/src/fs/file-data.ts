/** What can be written to a file. Text becomes UTF-8. */
export type FileData =
  | string
  | ArrayBuffer
  | ArrayBufferView
  | Iterable<string | Uint8Array>
  | AsyncIterable<string | Uint8Array>
  | ReadableStream<string | Uint8Array>;

/** Data that is all there, as bytes; `undefined` for data that comes piece by piece. */
export function toWholeBytes(data: FileData): Uint8Array | undefined {
  if (typeof data === 'string') return new TextEncoder().encode(data);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return undefined;
}

/** Data piece by piece. Ending the iteration early cancels a stream. */
export async function* toPieces(data: FileData): AsyncGenerator<Uint8Array, void> {
  const whole = toWholeBytes(data);
  if (whole !== undefined) {
    yield whole;
    return;
  }
  const pieces = data instanceof ReadableStream ? readStream(data) : (data as AsyncIterable<string>);
  for await (const piece of pieces) {
    const bytes = toWholeBytes(piece);
    if (bytes === undefined) throw new TypeError('data must come as text or bytes');
    yield bytes;
  }
}

/** By its reader, because not every browser can iterate over a stream. */
async function* readStream<T>(stream: ReadableStream<T>): AsyncGenerator<T, void> {
  const reader = stream.getReader();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isOver = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!isOver) await reader.cancel().catch(() => {});
    reader.releaseLock();
  }
}
