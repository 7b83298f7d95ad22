import type {
  EnvironmentInfo,
  MethodName,
  NotificationParams,
  ParamsOf,
  ResultOf,
  ServerNotificationName,
} from '@exec-server/protocol';
import type { ExecServerError } from './errors.js';
import type { ProcessSession, SlowReader } from './process-session.js';

/** How one call is made. */
export interface SessionCallOptions {
  /** Gives up waiting for the answer; the call may still be carried out. */
  readonly signal?: AbortSignal;
  /** Time for the answer, in milliseconds, not counting the time to connect. @default the client's `requestTimeoutMs` */
  readonly timeoutMs?: number;
  /**
   * Send it again when the connection is lost before the answer: for calls that may be carried out twice.
   * @default true for calls that change nothing, false for all others
   */
  readonly resend?: boolean;
}

/** Which process to follow, and from where. */
export interface RegisterOptions {
  /** The session it belongs to, where that is not the client's own; the client must attach to it. */
  readonly sessionId?: string;
  /** Events up to this `seq` are known already. @default 0 */
  readonly afterSeq?: number;
  /** What becomes of readers that do not say. @default what the client was told */
  readonly slowReader?: SlowReader;
}

/** One session with a server, kept over reconnects: what the rooms of the SDK are built on. */
export interface SessionClient {
  readonly clientName: string;
  /** Id of the session; absent until the first connection. */
  readonly sessionId: string | undefined;
  /** Connects where that has not happened yet. Concurrent callers share one attempt. */
  ready(signal?: AbortSignal): Promise<void>;
  /** What the server told about its host; asked for at most once. */
  environment(): Promise<EnvironmentInfo>;
  /** Whether the server has a capability, by its name in `environment/info`. */
  supports(capability: string): Promise<boolean>;
  /**
   * Calls a method, after connecting or recovering where needed. Rejects with `ExecServerError`: `rejected` with the
   * code of the server, `connection_lost`, `session_expired`, `request_timeout`, `protocol`; or the reason of the signal.
   */
  call<M extends MethodName>(
    method: M,
    params: ParamsOf<M>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<M>>;
  /** Listens to the notifications of one name, over reconnects, until the function it returns is called. */
  on<N extends ServerNotificationName>(
    name: N,
    listener: (params: NotificationParams<N>) => void,
  ): () => void;
  /** Tells of each loss of a connection, also of those that are recovered: streams bound to it are over. */
  onLoss(listener: (error: ExecServerError) => void): () => void;
  /** Tells once that there will be no other connection, because of a failure or of `close`. */
  onOver(listener: (error: ExecServerError) => void): () => void;
  /** Follows a process locally; sends nothing. One at a time for each process. */
  registerProcess(processId: string, options?: RegisterOptions): ProcessSession;
  /** Ends the connection, and a server that was spawned for it. Idempotent. */
  close(): Promise<void>;
}
