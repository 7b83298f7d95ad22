import type { EnvironmentInfo } from '@exec-server/protocol';
import { addAbortListener, MAX_TIMER_MS, removeAbortListener } from '@exec-server/rpc';
import type { NetworkPolicyHandler } from '../answer-server-requests.js';
import type { Clock } from '../clock.js';
import type { ConnectionState } from '../connection-state.js';
import type { Dialer } from '../dial/dialer.js';
import { ConnectionLostError, ExecServerError } from '../errors.js';
import type { KeepAliveOptions } from '../keep-alive.js';
import type { ProcessOutput, ServerNotification } from '../notification-hub.js';
import { WireClient } from '../wire-client.js';
import { abortable, delay } from './abortable.js';
import { isWorthAnotherAttempt } from './call-rules.js';
import type { ReconnectOptions } from './client-options.js';
import { RecoveryBudget } from './recovery-budget.js';
import { disconnectText, toExecServerError } from './to-exec-server-error.js';

/** How connections of the session are made. */
export interface LinkOptions {
  readonly clientName: string;
  readonly resumeSessionId: string | undefined;
  readonly initializeTimeoutMs: number | undefined;
  readonly reconnect: ReconnectOptions | false;
  readonly binaryOutput: boolean;
  readonly keepAlive: KeepAliveOptions | false | undefined;
  readonly clock: Clock | undefined;
  readonly onNetworkPolicyRequest: NetworkPolicyHandler | undefined;
}

/** What a link tells its client. */
export interface LinkListener {
  onNotification(notification: ServerNotification): void;
  onOutput(output: ProcessOutput): void;
  /** A connection was lost, for good or not. */
  onLoss(error: ConnectionLostError): void;
  /** Another connection is tried; what was pushed so far has no successor on it. */
  onResuming(): void;
  /** The session has a new connection; calls go on once this has learned what was missed. */
  onResumed(wire: WireClient, signal: AbortSignal): Promise<void>;
  /** There will be no connection any more. */
  onOver(error: ExecServerError): void;
  onState(state: ConnectionState, error?: ExecServerError): void;
}

type LinkState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'connecting'; readonly attempt: Promise<WireClient> }
  | { readonly kind: 'connected'; readonly wire: WireClient }
  | { readonly kind: 'recovering'; readonly settled: Promise<void> }
  | { readonly kind: 'over'; readonly error: ExecServerError };

const STATE_NAMES: Readonly<Record<LinkState['kind'], ConnectionState>> = {
  idle: 'idle',
  connecting: 'connecting',
  connected: 'connected',
  recovering: 'reconnecting',
  over: 'closed',
};

/** The connections of one session, one after the other. */
export class SessionLink {
  readonly #dialer: Dialer;
  readonly #options: LinkOptions;
  readonly #listener: LinkListener;
  readonly #budget: RecoveryBudget;
  readonly #closing = new AbortController();
  #state: LinkState = { kind: 'idle' };
  #sessionId: string | undefined;
  #environmentInfo: EnvironmentInfo | undefined;
  #paused = false;
  /** The one that stood when it ended for good. */
  #lastConnection: WireClient | undefined;

  constructor(dialer: Dialer, options: LinkOptions, listener: LinkListener) {
    this.#dialer = dialer;
    this.#options = options;
    this.#listener = listener;
    this.#budget = new RecoveryBudget(options.reconnect || {});
  }

  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  get state(): ConnectionState {
    return STATE_NAMES[this.#state.kind];
  }

  /** Whether the session is to end with the client unless that says otherwise. */
  get endsSession(): boolean {
    return this.#dialer.endsSession ?? false;
  }

  /** What the answer to `initialize` told. */
  get environmentInfo(): EnvironmentInfo | undefined {
    return this.#environmentInfo;
  }

  /** Why there is no connection any more. */
  get overError(): ExecServerError | undefined {
    return this.#state.kind === 'over' ? this.#state.error : undefined;
  }

  /** The connection, made first or made again where needed. Concurrent callers share one attempt. */
  async acquire(signal?: AbortSignal): Promise<WireClient> {
    for (;;) {
      signal?.throwIfAborted();
      const state = this.#state;
      switch (state.kind) {
        case 'connected':
          // One that is ending has its successor on the way once its end is told.
          if (!state.wire.isClosed) return state.wire;
          await abortable(state.wire.closed, signal);
          break;
        case 'over':
          throw state.error;
        case 'recovering':
          await abortable(state.settled, signal);
          break;
        case 'connecting':
          return abortable(state.attempt, signal);
        case 'idle':
          return abortable(this.#connectFirst(), signal);
      }
    }
  }

  /** Resolves when the end of `wire` has been dealt with; what follows is told by `acquire`. */
  async lost(wire: WireClient): Promise<void> {
    wire.close();
    await wire.closed;
  }

  /** Ends the connection because of what the server sent over it. */
  refuse(detail: string): void {
    if (this.#state.kind === 'connected') this.#state.wire.refuse(detail);
  }

  /** Something came through, so that the next recovery may take its full time. */
  noteProgress(): void {
    if (this.#state.kind === 'connected') this.#budget.refill();
  }

  /** Stops reading from the connection, or goes on. */
  setPaused(paused: boolean): void {
    if (this.#paused === paused) return;
    this.#paused = paused;
    if (this.#state.kind !== 'connected') return;
    if (paused) this.#state.wire.pause();
    else this.#state.wire.resume();
  }

  /** Ends it for good, and resolves when the connection is gone, so that the session can be resumed. Idempotent. */
  async close(): Promise<void> {
    this.#end(new ConnectionLostError(disconnectText('closed by this client'), { retryable: false }));
    await Promise.all([this.#dialer.close(), this.#lastConnection?.closed]);
  }

  #connectFirst(): Promise<WireClient> {
    const attempt = this.#connect(this.#options.resumeSessionId, this.#closing.signal);
    this.#enter({ kind: 'connecting', attempt });
    return attempt;
  }

  async #connect(resumeSessionId: string | undefined, signal: AbortSignal): Promise<WireClient> {
    try {
      const wire = await this.#open(resumeSessionId, signal);
      this.#sessionId = wire.sessionId;
      this.#environmentInfo = wire.environmentInfo;
      this.#becomeConnected(wire);
      return wire;
    } catch (error) {
      if (this.#state.kind === 'over') throw this.#state.error;
      // Not remembered: the next call tries again.
      this.#enter({ kind: 'idle' }, error instanceof ExecServerError ? error : undefined);
      throw error;
    }
  }

  async #open(resumeSessionId: string | undefined, signal: AbortSignal): Promise<WireClient> {
    const { clientName, initializeTimeoutMs, binaryOutput, keepAlive, clock, onNetworkPolicyRequest } =
      this.#options;
    let abandon: (() => void) | undefined;
    try {
      const transport = await this.#dialer.dial(signal);
      abandon = () => transport.destroy('the connection is no longer wanted');
      addAbortListener(signal, abandon);
      if (signal.aborted) abandon();
      return await WireClient.connect(transport, {
        clientName,
        binaryOutput,
        ...(resumeSessionId !== undefined && { resumeSessionId }),
        ...(initializeTimeoutMs !== undefined && { initializeTimeoutMs }),
        ...(keepAlive !== undefined && { keepAlive }),
        ...(clock !== undefined && { clock }),
        ...(onNetworkPolicyRequest !== undefined && { onNetworkPolicyRequest }),
        onNotification: (notification) => this.#listener.onNotification(notification),
        onOutput: (output) => this.#listener.onOutput(output),
        holdEvents: false,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw toExecServerError(error, { method: 'initialize' });
    } finally {
      if (abandon !== undefined) removeAbortListener(signal, abandon);
    }
  }

  #becomeConnected(wire: WireClient): void {
    if (this.#state.kind === 'over') {
      wire.close();
      throw this.#state.error;
    }
    this.#enter({ kind: 'connected', wire });
    if (this.#paused) wire.pause();
    void wire.closed.then((reason) => this.#connectionEnded(wire, reason));
  }

  #connectionEnded(wire: WireClient, reason: string | undefined): void {
    if (this.#state.kind !== 'connected' || this.#state.wire !== wire) return;
    const loss = new ConnectionLostError(disconnectText(reason), { cause: wire.violation });
    this.#listener.onLoss(loss);
    if (wire.violation !== undefined) {
      this.#end(new ExecServerError('protocol', disconnectText(reason), { cause: wire.violation }));
    } else if (!this.#dialer.redials || this.#options.reconnect === false) {
      this.#end(loss);
    } else {
      this.#enter({ kind: 'recovering', settled: this.#recover(loss) }, loss);
    }
  }

  /** Gets the session back or ends. Never rejects. */
  async #recover(loss: ConnectionLostError): Promise<void> {
    this.#budget.begin();
    let failure: unknown;
    do {
      try {
        await this.#resumeOnce();
        this.#budget.finish();
        return;
      } catch (error) {
        failure = error;
        if (!isWorthAnotherAttempt(error)) break;
      }
    } while (await this.#waitForNextAttempt());
    this.#end(toRecoveryError(loss, failure));
  }

  /** False when no time is left for another one. */
  async #waitForNextAttempt(): Promise<boolean> {
    const delayMs = this.#budget.nextDelayMs();
    if (delayMs === undefined) return false;
    try {
      await delay(delayMs, this.#closing.signal);
      return true;
    } catch {
      return false;
    }
  }

  async #resumeOnce(): Promise<void> {
    const deadline = new AbortController();
    const stop = () => deadline.abort(this.#closing.signal.reason);
    const expire = () => deadline.abort(new ConnectionLostError('the deadline has passed'));
    const timer = setTimeout(expire, Math.min(this.#budget.remainingMs, MAX_TIMER_MS));
    addAbortListener(this.#closing.signal, stop);
    if (this.#closing.signal.aborted) stop();
    let wire: WireClient | undefined;
    this.#listener.onResuming();
    try {
      wire = await this.#open(this.#sessionId, deadline.signal);
      await this.#listener.onResumed(wire, deadline.signal);
      if (wire.isClosed) throw new ConnectionLostError(disconnectText(await wire.closed));
      this.#becomeConnected(wire);
    } catch (error) {
      wire?.close();
      if (wire?.violation !== undefined)
        throw new ExecServerError('protocol', wire.violation.message, { cause: wire.violation });
      throw toExecServerError(error);
    } finally {
      clearTimeout(timer);
      removeAbortListener(this.#closing.signal, stop);
    }
  }

  #enter(state: LinkState, error?: ExecServerError): void {
    this.#state = state;
    this.#listener.onState(this.state, error);
  }

  #end(error: ExecServerError): void {
    if (this.#state.kind === 'over') return;
    this.#lastConnection = this.#state.kind === 'connected' ? this.#state.wire : undefined;
    this.#enter({ kind: 'over', error }, error);
    this.#closing.abort(error);
    this.#lastConnection?.close();
    this.#listener.onOver(error);
    // Whoever closes waits for this; nobody else can do anything about its failure.
    this.#dialer.close().catch(() => {});
  }
}

/** Why a session was not got back, with what became of the connection first. */
function toRecoveryError(loss: ConnectionLostError, failure: unknown): ExecServerError {
  if (!(failure instanceof ExecServerError)) return new ConnectionLostError(loss.message, { cause: failure });
  const message = `${loss.message}; failed to resume exec-server session: ${failure.message}`;
  const cause = failure;
  if (isWorthAnotherAttempt(failure)) return new ConnectionLostError(message, { cause, retryable: false });
  const code = failure.code === 'rejected' ? 'session_expired' : failure.code;
  return new ExecServerError(code, message, { cause });
}
