import type { ParamsOf, ResultOf } from '@exec-server/protocol';
import type { ProcessEvent } from './process-event.js';
import type { SessionCallOptions } from './session-client.js';

/**
 * What becomes of a reader that is slower than the process. `wait`: the process waits for it, and only that process;
 * where the server cannot do that, as `lag`. `lag`: the process goes on, and the reader is told what it missed.
 */
export type SlowReader = 'wait' | 'lag';

/** Where to start and when to stop listening. */
export interface EventsOptions {
  /**
   * Only events with a greater `seq`; those that are gone are a `LaggedError`.
   * @default those that were not known at registration, with a `gap` first for what is no longer retained
   */
  readonly afterSeq?: number;
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
  /** @default what `connect` or `attach` was told */
  readonly slowReader?: SlowReader;
}

/** How bytes for stdin are sent. */
export interface WriteOptions {
  /** Close stdin behind these bytes. Needs a server that can. @default false */
  readonly closeStdin?: boolean;
  readonly signal?: AbortSignal;
}

/** One process as this client follows it: its events in order, from wherever they come, over reconnects. */
export interface ProcessSession {
  readonly processId: string;
  /** `seq` of the newest event that was published here; 0 before the first. */
  readonly lastSeq: number;
  /** True once `closed` or `failed` was published. */
  readonly isOver: boolean;
  /**
   * The events, those of the past first as far as they are retained here (256 events, 1 MiB) or by the server. Every
   * iteration has a place of its own. The process waits for one that has begun and falls behind by more than 1 MiB or
   * 1,024 events; with `slowReader: 'lag'` it does not, and one that falls behind what can still be had throws
   * `LaggedError` with the range; another iteration with `afterSeq: error.toSeq` goes on behind it. Ends after `closed`
   * or `failed`.
   */
  events(options?: EventsOptions): AsyncIterableIterator<ProcessEvent>;
  /** Calls `listener` for each event as it is published, in order, and misses none from now on. */
  listen(listener: (event: ProcessEvent) => void): () => void;
  /** Asks the server's log; answers closed with the failure once the process has failed. */
  read(
    params?: Omit<ParamsOf<'process/read'>, 'processId' | 'sessionId'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'process/read'>>;
  /** Writes to stdin once, also when it has to be sent twice. Writes keep their order. */
  write(data: Uint8Array, options?: WriteOptions): Promise<ResultOf<'process/write'>>;
  /**
   * Learns from the server's log what happened before the process was followed here. Needed for one of the client's own
   * session that was started earlier; one that is started after `registerProcess`, or attached to, tells everything.
   */
  catchUp(): Promise<void>;
  /** Has the process wait no more for readers that are at most 64 MiB behind, because it is to end. */
  letRun(): void;
  /** Stops following. The process itself is left alone. */
  unregister(): void;
}
