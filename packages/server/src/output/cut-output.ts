/**
 * Into how many parts what a process may keep is divided. One part is the largest piece of output that is kept or dropped
 * as a whole, and one is for the beginnings of the streams: seven eighths of the limit are the newest bytes at least.
 */
export const RETENTION_PARTS = 16;

/** The largest piece of output of a process that may keep `limitBytes`, in bytes. */
export function largestPiece(limitBytes: number): number {
  // Who keeps nothing needs no pieces.
  return limitBytes === 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(limitBytes / RETENTION_PARTS));
}

/**
 * Cuts output into pieces of which those that can be kept are no larger than {@link largestPiece}. What is too old to be
 * kept, once all of it is there, stays in one.
 */
export function* cutOutput(data: Buffer, limitBytes: number): Generator<Buffer> {
  const pieceBytes = largestPiece(limitBytes);
  if (data.length <= pieceBytes) {
    yield data;
    return;
  }
  const oldBytes = Math.max(0, data.length - limitBytes);
  if (oldBytes > 0) yield data.subarray(0, oldBytes);
  // A copy, so that a piece that is kept does not keep everything that was read with it.
  const newest = Buffer.allocUnsafeSlow(data.length - oldBytes);
  data.copy(newest, 0, oldBytes);
  for (let start = 0; start < newest.length; start += pieceBytes)
    yield newest.subarray(start, start + pieceBytes);
}
