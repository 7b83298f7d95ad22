/** Yield window of a call that does not ask for one, in milliseconds. */
export const DEFAULT_EXEC_YIELD_MS = 10_000;
export const DEFAULT_WRITE_YIELD_MS = 250;

/** Bounds of the yield window of a command and of a write, in milliseconds. */
export const MIN_YIELD_MS = 250;
export const MAX_YIELD_MS = 30_000;

/** A command on Windows gets at least so long, in milliseconds, because programs are slow to start there. */
export const MIN_WINDOWS_EXEC_YIELD_MS = 10_000;

/** A call that only waits waits at least so long, in milliseconds, so that a model does not poll in a hurry. */
export const MIN_POLL_YIELD_MS = 5000;

/** Longest wait of a call that only waits, in milliseconds, where the options do not say. */
export const DEFAULT_MAX_POLL_YIELD_MS = 300_000;

/** A command that ends within so many milliseconds never becomes a session. */
export const EARLY_EXIT_MS = 150;

/** What a program on a terminal gets to take in what was typed, in milliseconds, before the yield window begins. */
export const REACTION_MS = 100;

/** How long a call waits for output that others hold open after the end of the process, in milliseconds. */
export const TRAILING_OUTPUT_MS = 50;

/** How long the `end` event waits for such output, in milliseconds. */
export const END_EVENT_DELAY_MS = 100;

/** Output that is kept between two calls, and of a whole session for its `end` event, in bytes. */
export const MAX_RETAINED_BYTES = 1024 * 1024;

/** Longest text of an `output` event, in bytes of UTF-8. */
export const MAX_DELTA_BYTES = 8192;

/** `output` events of one command; what it writes beyond them is only in its replies and its `end` event. */
export const MAX_DELTAS = 10_000;

/** Bytes that count as one token. */
export const BYTES_PER_TOKEN = 4;

/** What a reply may show of the output where the call does not say, in tokens. */
export const DEFAULT_MAX_OUTPUT_TOKENS = 10_000;

/** A whole reply may be so many times as long as the model's limit on output. */
export const REPLY_ALLOWANCE = 1.2;

/** Sessions at a time; one more ends another. */
export const MAX_SESSIONS = 64;

/** Sessions that were used last and are not ended for another. */
export const PROTECTED_SESSIONS = 8;

/** Bounds of session ids. */
export const MIN_SESSION_ID = 1000;
export const MAX_SESSION_ID = 99_999;
