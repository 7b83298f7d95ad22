/** How a slow reader makes the server wait. */
export interface InputHolding {
  /** Whether the connection waits for slow readers, instead of them missing what does not fit. */
  readonly pausesForSlowReaders: boolean;
  /** Stops reading from the connection until every holder has released it. */
  holdInput(holder: object): void;
  releaseInput(holder: object): void;
}
