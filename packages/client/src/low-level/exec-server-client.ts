import {
  type EnvironmentInfo,
  encodeBase64,
  type MethodName,
  type NotificationParams,
  type ParamsOf,
  type ResultOf,
  type ServerNotificationName,
} from '@exec-server/protocol';
import type { Transport } from '@exec-server/rpc';
import { systemClock } from '../clock.js';
import type { CloseOptions, ConnectionState, StateListener } from '../connection-state.js';
import type { Dialer } from '../dial/dialer.js';
import { isDialer } from '../dial/target.js';
import { createTransportDialer } from '../dial/transport-dialer.js';
import { asyncDispose } from '../dispose-symbol.js';
import { CapabilityMissingError, type ConnectionLostError, type ExecServerError } from '../errors.js';
import { NotificationHub, type OutputListener, type ServerNotification } from '../notification-hub.js';
import type { EventSubject, ProcessEvent, RoutedEvent } from '../process-event.js';
import type { ProcessSession } from '../process-session.js';
import { createRandomId } from '../random-id.js';
import type { RegisterOptions, SessionCallOptions, SessionClient } from '../session-client.js';
import type { ExecServerClientOptions } from './client-options.js';
import { Followers } from './followers.js';
import { type HttpRequest, HttpRequests, type HttpResponseStream } from './http-requests.js';
import { Listeners } from './listeners.js';
import { SessionCalls } from './session-calls.js';
import { SessionLink } from './session-link.js';
import { isStart, type StartHost, startProcess } from './start-process.js';
import { WireMethods } from './wire-methods.js';

export type { HttpRequest, HttpResponseStream } from './http-requests.js';

const DEFAULT_CLIENT_NAME = 'exec-server-client';

/** Time for the answer to `environment/info`, in milliseconds. */
const ENVIRONMENT_INFO_TIMEOUT_MS = 30_000;

/** Time for the end of a session before it is left to the server, in milliseconds. */
const END_SESSION_TIMEOUT_MS = 2000;

/**
 * One session with a server, call by call. It connects on first use, gets the session back when the connection is lost
 * and can be made again, and puts the events of registered processes in order.
 */
export class ExecServerClient extends WireMethods implements SessionClient {
  readonly clientName: string;
  readonly #resumes: boolean;
  readonly #link: SessionLink;
  readonly #calls: SessionCalls;
  readonly #startHost: StartHost;
  readonly #followers: Followers;
  readonly #http: HttpRequests;
  readonly #hub = new NotificationHub(undefined);
  readonly #lossListeners = new Listeners<ExecServerError>();
  readonly #overListeners = new Listeners<ExecServerError>();
  readonly #stateListeners = new Listeners<{
    readonly state: ConnectionState;
    readonly error: ExecServerError | undefined;
  }>();
  readonly #eventListeners = new Listeners<RoutedEvent>();
  /** Who keeps the connection from being read. */
  readonly #inputHolders = new Set<object>();
  #environment: Promise<EnvironmentInfo> | undefined;

  /** Makes a client and connects it. */
  static async connect(
    target: Dialer | Transport,
    options: ExecServerClientOptions & { readonly signal?: AbortSignal } = {},
  ): Promise<ExecServerClient> {
    const { signal, ...rest } = options;
    const client = new ExecServerClient(target, rest);
    try {
      await client.ready(signal);
      return client;
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  /** @param target makes the connections, or is the only one there will be */
  constructor(target: Dialer | Transport, options: ExecServerClientOptions = {}) {
    super();
    this.clientName = options.clientName ?? DEFAULT_CLIENT_NAME;
    this.#resumes = options.resumeSessionId !== undefined;
    this.#hub.release();
    const host = {
      pausesForSlowReaders: options.slowReader === 'pause',
      slowReader: options.slowReader === 'lag' ? ('lag' as const) : ('wait' as const),
      clock: options.clock ?? systemClock,
      call: this.call.bind(this),
      supports: this.supports.bind(this),
      holdInput: (holder: object) => this.#setHeld(holder, true),
      releaseInput: (holder: object) => this.#setHeld(holder, false),
      publish: (event: ProcessEvent, { processId, sessionId }: EventSubject) =>
        this.#eventListeners.tell({ ...event, processId, sessionId }),
    };
    this.#followers = new Followers(host);
    this.#http = new HttpRequests(host);
    const decide = options.onNetworkPolicyRequest;
    this.#link = new SessionLink(
      isDialer(target) ? target : createTransportDialer(target),
      {
        clientName: this.clientName,
        resumeSessionId: options.resumeSessionId,
        initializeTimeoutMs: options.initializeTimeoutMs,
        reconnect: options.reconnect ?? {},
        binaryOutput: options.binaryOutput ?? true,
        keepAlive: options.keepAlive,
        clock: options.clock,
        onNetworkPolicyRequest:
          decide &&
          ((request) =>
            this.#followers.find(request.processId) === undefined
              ? { type: 'deny', reason: 'the client follows no such process' }
              : decide(request)),
      },
      {
        onNotification: (notification) => this.#takeNotification(notification),
        onOutput: (output) => {
          this.#link.noteProgress();
          this.#followers.takeOutput(output);
          this.#hub.publishOutput(output);
        },
        onLoss: (error) => this.#takeLoss(error),
        onResuming: () => this.#followers.noteLoss(),
        onResumed: (wire, signal) => this.#followers.catchUp(wire, signal),
        onOver: (error) => {
          this.#followers.failAll(error);
          this.#http.failBodies(error);
          this.#overListeners.tell(error);
        },
        onState: (state, error) => this.#stateListeners.tell({ state, error }),
      },
    );
    this.#calls = new SessionCalls(this.#link, {
      requestTimeoutMs: options.requestTimeoutMs,
      trace: options.trace,
      wasProcessSeen: ({ processId, sessionId }) =>
        this.#followers.find(processId, this.#foreign(sessionId))?.wasSeen ?? false,
    });
    this.#startHost = { send: this.#calls.send.bind(this.#calls), supports: this.supports.bind(this) };
  }

  get sessionId(): string | undefined {
    return this.#link.sessionId;
  }

  async ready(signal?: AbortSignal): Promise<void> {
    await this.#link.acquire(signal);
  }

  /** Performs the handshake where that has not happened yet, and answers with what it told. */
  async initialize(signal?: AbortSignal): Promise<ResultOf<'initialize'>> {
    const { sessionId, environmentInfo } = await this.#link.acquire(signal);
    return { sessionId, ...(environmentInfo && { environmentInfo }) };
  }

  environment(): Promise<EnvironmentInfo> {
    this.#environment ??= this.#askEnvironment().catch((error: unknown) => {
      // A failure is not remembered.
      this.#environment = undefined;
      throw error;
    });
    return this.#environment;
  }

  async supports(capability: string): Promise<boolean> {
    const { capabilities = {} } = await this.environment();
    return (capabilities as Readonly<Record<string, boolean | undefined>>)[capability] === true;
  }

  async call<M extends MethodName>(
    method: M,
    params: ParamsOf<M>,
    options: SessionCallOptions = {},
  ): Promise<ResultOf<M>> {
    if (isStart(method)) {
      const start = params as ParamsOf<typeof method>;
      const result = await startProcess(this.#startHost, method, start, options);
      this.#followers.find(start.processId)?.noteStarted();
      return result as ResultOf<M>;
    }
    const result = await this.#calls.send(method, params, options);
    if (method === 'process/attach') this.#followers.noteAttached(params as ParamsOf<'process/attach'>);
    if (method === 'process/detach') this.#followers.noteDetached(params as ParamsOf<'process/detach'>);
    return result;
  }

  /** As on the wire; answers closed with the failure about a registered process that is lost. */
  override async read(
    params: ParamsOf<'process/read'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'process/read'>> {
    const follower = this.#followers.find(params.processId, this.#foreign(params.sessionId));
    return follower === undefined
      ? this.call('process/read', params, options)
      : follower.read(params, options);
  }

  /** Makes an HTTP request from the server's machine and collects the body. Aborting it cancels it there, too. */
  httpRequest(request: HttpRequest, options: SessionCallOptions = {}): Promise<ResultOf<'http/request'>> {
    return this.#http.request(request, options);
  }

  /**
   * Makes an HTTP request from the server's machine; resolves with the head of the response. Aborting cancels it until
   * then; ending the iteration of the body does so afterwards.
   */
  httpRequestStream(request: HttpRequest, options: SessionCallOptions = {}): Promise<HttpResponseStream> {
    return this.#http.stream(request, options);
  }

  on<N extends ServerNotificationName>(
    name: N,
    listener: (params: NotificationParams<N>) => void,
  ): () => void {
    if (name !== 'process/output') return this.#hub.on(name, listener);
    // Output that comes in binary frames is told all the same.
    return this.#hub.onOutput(({ data, ...output }) =>
      listener({ ...output, chunk: encodeBase64(data) } as NotificationParams<N>),
    );
  }

  /** Listens to the output of all processes as bytes, over reconnects, until the function it returns is called. */
  onOutput(listener: OutputListener): () => void {
    return this.#hub.onOutput(listener);
  }

  onLoss(listener: (error: ExecServerError) => void): () => void {
    return this.#lossListeners.add(listener);
  }

  /**
   * Listens to the events of all processes until the function it returns is called: those of registered ones in order
   * and over reconnects, those of others as they arrive.
   */
  onProcessEvent(listener: (event: RoutedEvent) => void): () => void {
    return this.#eventListeners.add(listener);
  }

  /** Tells once that the session is over for this client, by `close` or because it cannot be had back. */
  onOver(listener: (error: ExecServerError) => void): () => void {
    return this.#overListeners.add(listener);
  }

  registerProcess(processId: string, options: RegisterOptions = {}): ProcessSession {
    const { overError } = this.#link;
    if (overError !== undefined) throw overError;
    const { sessionId: wanted, ...rest } = options;
    const sessionId = this.#foreign(wanted);
    // Others may have written to it before, and the server takes an id that it knows for a repetition.
    const isShared = sessionId !== undefined || this.#resumes;
    const writeIdPrefix = isShared ? `${createRandomId()}-` : '';
    return this.#followers.register(
      processId,
      { ...rest, ...(sessionId !== undefined && { sessionId }) },
      writeIdPrefix,
    );
  }

  /** How this client stands with its server. */
  get state(): ConnectionState {
    return this.#link.state;
  }

  /** Tells each new state until the function it returns is called. */
  onState(listener: StateListener): () => void {
    return this.#stateListeners.add(({ state, error }) => listener(state, error));
  }

  /**
   * Ends the connection, and a server that was spawned for it. What becomes of the session and its processes is told at
   * {@link CloseOptions.end}. With `end: true` rejects with `capability_missing`, after it has closed, where the server
   * cannot end a session.
   */
  async close(options: CloseOptions = {}): Promise<void> {
    const cannotEnd = await this.#endSession(options.end);
    await this.#link.close();
    if (cannotEnd !== undefined) throw cannotEnd;
  }

  /** Asks for the end of the session where there is a connection to do it over. */
  async #endSession(isAsked: boolean | undefined): Promise<CapabilityMissingError | undefined> {
    if (!(isAsked ?? this.#link.endsSession) || this.state !== 'connected') return undefined;
    try {
      await this.endSession({}, { timeoutMs: END_SESSION_TIMEOUT_MS });
    } catch (error) {
      // Without a connection the server ends the session by itself.
      if (isAsked === true && error instanceof CapabilityMissingError) return error;
    }
    return undefined;
  }

  [asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The session, where it is not the client's own. */
  #foreign(sessionId: string | null | undefined): string | undefined {
    return sessionId === this.sessionId ? undefined : (sessionId ?? undefined);
  }

  async #askEnvironment(): Promise<EnvironmentInfo> {
    await this.#link.acquire();
    return this.#link.environmentInfo ?? this.environmentInfo({ timeoutMs: ENVIRONMENT_INFO_TIMEOUT_MS });
  }

  #takeNotification(notification: ServerNotification): void {
    this.#link.noteProgress();
    if (notification.method === 'http/request/bodyDelta') {
      const violation = this.#http.takeDelta(notification.params);
      if (violation !== undefined) this.#link.refuse(violation);
    }
    this.#followers.takeNotification(notification);
    // Output is published as bytes, whichever way it came.
    if (notification.method !== 'process/output') this.#hub.publish(notification);
  }

  #takeLoss(error: ConnectionLostError): void {
    this.#http.failBodies(error);
    this.#lossListeners.tell(error);
  }

  #setHeld(holder: object, held: boolean): void {
    if (held) this.#inputHolders.add(holder);
    else this.#inputHolders.delete(holder);
    this.#link.setPaused(this.#inputHolders.size > 0);
  }
}
