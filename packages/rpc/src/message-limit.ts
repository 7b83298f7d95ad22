/** Longest message that is taken from the other side. */
export interface MessageLimit {
  /** In bytes of UTF-8. */
  readonly bytes: number;
  /** When it holds, for messages to people: `before initialize`. @default always */
  readonly condition?: string;
}

/** The other side sends a message that is longer than it may be. */
export class MessageTooLongError extends Error {
  override readonly name = 'MessageTooLongError';

  /** @param what the message is to its transport */
  constructor(
    what: 'line' | 'message',
    readonly limit: MessageLimit,
  ) {
    const condition = limit.condition === undefined ? '' : ` ${limit.condition}`;
    super(`${what} exceeds the limit of ${limit.bytes} bytes${condition}`);
  }
}
