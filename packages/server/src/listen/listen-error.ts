import { osErrorText } from '../os-error.js';

/** Why a listener could not be opened. */
export type ListenErrorCode =
  /** The URL has a known scheme and a form we do not take. */
  | 'invalid_url'
  /** The URL's scheme is not one of ours, or needs an option that is missing. */
  | 'unsupported_url'
  /** Options that contradict each other or the URL. */
  | 'invalid_options'
  /** The listener would let anybody on the network run programs. */
  | 'unauthenticated'
  /** A secret, certificate or key could not be read or used. */
  | 'unusable_secret'
  /** The operating system refused the address. */
  | 'bind_failed';

/** A listener that was not opened. The message is meant for the person who asked for it. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  constructor(
    readonly code: ListenErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Failures that only binding an address has; their numbers differ between platforms, their texts do not. */
const BIND_FAILURES: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'Address in use (os error 98)'],
  ['EADDRNOTAVAIL', 'Address not available (os error 99)'],
]);

/** Says which address was refused and why. */
export function bindError(url: string, cause: NodeJS.ErrnoException): ListenError {
  const text = BIND_FAILURES.get(cause.code ?? '') ?? systemErrorText(cause);
  return new ListenError('bind_failed', `cannot listen on ${url}: ${text}`, { cause });
}

/** The operating system's words for a failed call of Node, or Node's own where there are none. */
export function systemErrorText(cause: NodeJS.ErrnoException): string {
  return cause.errno === undefined ? cause.message : osErrorText(Math.abs(cause.errno));
}
