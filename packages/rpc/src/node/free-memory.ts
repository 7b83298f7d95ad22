/** Most that one turn of the loop frees, in bytes, unless a single piece is more: a mebibyte takes a tenth of a millisecond. */
const MAX_TURN_BYTES = 64 * 1024 * 1024;

/** Memory that waits for its turn. */
const doomed: ArrayBuffer[] = [];

/**
 * Frees memory that nobody uses any more, nor any view of it, without waiting for V8: a process that has nothing to do
 * would keep it for good.
 */
export function freeMemory(memory: ArrayBuffer): void {
  if (doomed.push(memory) === 1) setImmediate(freeSome);
}

function freeSome(): void {
  // What is sent and never received is gone with the channel.
  const { port1, port2 } = new MessageChannel();
  let bytes = 0;
  do {
    const memory = doomed.shift() as ArrayBuffer;
    bytes += memory.byteLength;
    port1.postMessage(memory, [memory]);
  } while (doomed.length > 0 && bytes + (doomed[0] as ArrayBuffer).byteLength <= MAX_TURN_BYTES);
  port2.close();
  if (doomed.length > 0) setImmediate(freeSome);
}
