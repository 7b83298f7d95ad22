/** A close frame holds 125 bytes, two of them the code. */
const MAX_CLOSE_REASON_BYTES = 123;

/** Normal closure, going away, and a close frame without a code. */
const CLEAN_CLOSE_CODES: ReadonlySet<number> = new Set([1000, 1001, 1005]);

/** What a close frame from the other side says about the end: nothing when it was clean. */
export function describeClose(code: number, reason: string): string | undefined {
  if (CLEAN_CLOSE_CODES.has(code)) return undefined;
  return `closed with code ${code}${reason === '' ? '' : `: ${reason}`}`;
}

/** Cuts `reason` to what a close frame can carry, never inside a character. */
export function fitCloseReason(reason: string): string {
  const { read } = new TextEncoder().encodeInto(reason, new Uint8Array(MAX_CLOSE_REASON_BYTES));
  return reason.slice(0, read);
}
