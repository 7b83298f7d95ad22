/** Which turn is waited for. */
export interface TurnIdentity {
  readonly threadId: string;
  readonly turnId: string;
}

/** A notification of the app-server that may end a turn; members that are not needed are left out. */
export interface TurnCompletedNotification {
  readonly threadId: string;
  readonly turn: {
    readonly id: string;
    readonly status: 'completed' | 'failed' | 'interrupted' | 'inProgress';
    readonly error?: { readonly message?: string; readonly additionalDetails?: string | null } | null;
  };
}

/** What a turn came to. */
export type TurnEnd =
  /** The last message is what the stream said before, where it said something. */
  | { readonly kind: 'completed'; readonly lastAgentMessage: string | null }
  | { readonly kind: 'failed'; readonly error: string }
  | { readonly kind: 'interrupted' };

/** Said of a turn that has no end; the reference's words. */
export const TURN_INTERRUPTED = 'turn interrupted';
/** Said of a failed turn that does not say why. */
export const TURN_FAILED = 'turn failed';

/**
 * What a `turn/completed` means for the turn that is waited for: nothing where it is about another thread or turn, such as a
 * sub-agent's, or where the turn goes on.
 */
export function mapTurnCompleted(
  { threadId, turn }: TurnCompletedNotification,
  awaited: TurnIdentity,
): TurnEnd | undefined {
  if (threadId !== awaited.threadId || turn.id !== awaited.turnId) return undefined;
  switch (turn.status) {
    case 'completed':
      return { kind: 'completed', lastAgentMessage: null };
    case 'failed':
      return { kind: 'failed', error: describeError(turn.error) };
    case 'interrupted':
      return { kind: 'interrupted' };
    case 'inProgress':
      return undefined;
  }
}

function describeError(error: TurnCompletedNotification['turn']['error']): string {
  const message = error?.message ?? TURN_FAILED;
  return error?.additionalDetails ? `${message} (${error.additionalDetails})` : message;
}
