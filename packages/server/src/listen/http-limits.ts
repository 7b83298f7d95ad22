/** Bounds on what a connection may cost before it has become a WebSocket. */
export interface HttpLimits {
  /** Time for a whole request head, and for a TLS handshake. @default 10_000 */
  readonly headerTimeoutMs: number;
  /** Time for a whole request. @default 30_000 */
  readonly requestTimeoutMs: number;
  /** How long an idle connection waits for its next request. @default 5_000 */
  readonly idleTimeoutMs: number;
  /** Bytes of a request head; signed tokens can be long. @default 32_768 */
  readonly maxHeaderBytes: number;
  /** Connections that are no WebSocket yet; one more ends the oldest of them. @default 256 */
  readonly maxPendingConnections: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  headerTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  idleTimeoutMs: 5_000,
  maxHeaderBytes: 32 * 1024,
  maxPendingConnections: 256,
};
