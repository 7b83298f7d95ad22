import type { Transport } from '@exec-server/rpc';

/** Makes connections to one server, one after the other. */
export interface Dialer {
  /** Names the server in messages to people, e.g. `ws://127.0.0.1:4242`. Never carries a credential. */
  readonly address: string;
  /** Whether a lost connection can be made again, so that its session may be resumed. */
  readonly redials: boolean;
  /** Whether the session ends with its client unless that says otherwise. @default false */
  readonly endsSession?: boolean;
  /**
   * Opens a connection. Rejects with `ExecServerError` (`connect_failed`, `connect_timeout`), whose `retryable` says
   * whether to try again, or with the reason of the signal.
   */
  dial(signal: AbortSignal): Promise<Transport>;
  /** Gives up what outlives connections, such as a spawned server with everything under it. Idempotent. */
  close(): Promise<void>;
}
