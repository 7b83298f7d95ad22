/** A request that cannot be read in one way only, or wants something that is not done here. The message is the answer. */
export class BadRequestError extends Error {
  override readonly name = 'BadRequestError';
}
