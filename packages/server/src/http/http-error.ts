/**
 * How far a request came: refused before anything was sent, without a response, cut short within the body, given up
 * by its caller. A dialect gives each kind its code and words.
 */
export type HttpFailure = 'refused' | 'overloaded' | 'no-response' | 'body' | 'body-too-large' | 'cancelled';

/** A request that failed. The message never quotes a header or a body. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  constructor(
    readonly failure: HttpFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
