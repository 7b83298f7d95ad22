/** Which process a call is about. */
export interface ProcessTarget {
  readonly processId: string;
  /** Its session, where that is not the client's own. */
  readonly sessionId?: string;
}
