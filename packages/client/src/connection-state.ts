import type { ExecServerError } from './errors.js';

/**
 * How a client stands with its server. `idle`: it has not connected yet. `reconnecting`: the connection was lost, calls
 * wait, and another one is tried. `closed`: there will be none any more.
 */
export type ConnectionState = 'idle' | 'connecting' | 'connected' | 'reconnecting' | 'closed';

/** Hears each new state, and why a connection was lost or will not be had back. */
export type StateListener = (state: ConnectionState, error?: ExecServerError) => void;

/** How a client is closed. */
export interface CloseOptions {
  /**
   * Have the server end the session now, with its processes; those with a `keepAliveMs` live on for that long. Otherwise
   * the session stays for as long as the server keeps it, 30 seconds unless it was told otherwise, for a client that
   * resumes it; then it ends in the same way.
   *
   * @default true for a server in this process or one that was spawned, else false
   */
  readonly end?: boolean;
}
