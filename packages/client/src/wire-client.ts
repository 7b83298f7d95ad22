import {
  decodeOutputFrame,
  decodeResult,
  type EnvironmentInfo,
  type InitializeResult,
  isServerNotification,
  MalformedMessageError,
  METHODS,
  type MethodName,
  type ParamsOf,
  parseErrorText,
  type ResultOf,
  SERVER_NOTIFICATIONS,
  type ServerNotificationName,
} from '@exec-server/protocol';
import { type CallOptions, Peer, type Transport } from '@exec-server/rpc';
import { type NetworkPolicyHandler, ServerRequests } from './answer-server-requests.js';
import { type Clock, systemClock } from './clock.js';
import { UnexpectedSessionError } from './errors.js';
import { KeepAlive, type KeepAliveOptions } from './keep-alive.js';
import {
  NotificationHub,
  type NotificationListener,
  type OutputListener,
  type ProcessOutput,
  type ServerNotification,
} from './notification-hub.js';

const DEFAULT_INITIALIZE_TIMEOUT_MS = 10_000;

/** Notifications and output frames kept until the handshake is over; a server that sends more before it answers is no server. */
const MAX_HELD_MESSAGES = 4096;

/** WebSocket close code for a server that does not keep to the protocol. */
const PROTOCOL_ERROR_CLOSE_CODE = 1002;

/** Options of {@link WireClient.connect}. */
export interface WireClientOptions {
  /** Name of this client, for the logs of the server. */
  readonly clientName: string;
  /** Session to attach to again instead of a new one. */
  readonly resumeSessionId?: string;
  /** Time for the answer to `initialize`, in milliseconds. @default 10000 */
  readonly initializeTimeoutMs?: number;
  /**
   * Ask for output in binary frames, which saves both sides the base64. Granted by servers that know them, over
   * transports that carry them. Listen with {@link WireClient.onOutput} then: a frame is no notification.
   *
   * @default false
   */
  readonly binaryOutput?: boolean;
  /** Takes every notification, before the listeners of its name. */
  readonly onNotification?: (notification: ServerNotification) => void;
  /** Takes all output as bytes, before the listeners of {@link WireClient.onOutput}. */
  readonly onOutput?: OutputListener;
  /**
   * Keep what comes before the caller of `connect` has had a chance to listen. Who needs no other listeners than those
   * of the options needs no such chance, and is not bound by how much can be kept.
   *
   * @default true
   */
  readonly holdEvents?: boolean;
  /** Decides whether a process may connect somewhere, for servers that ask. @default everything is denied */
  readonly onNetworkPolicyRequest?: NetworkPolicyHandler;
  /**
   * How the connection is watched for signs of life after the handshake; `false` for not at all. One that gives none is
   * ended. A connection in this process is not watched.
   */
  readonly keepAlive?: KeepAliveOptions | false;
  /** Where the watch takes time from. @default the platform's */
  readonly clock?: Clock;
  /** The connection ended after the handshake; `reason` is absent when it did so cleanly. */
  readonly onClose?: (reason: string | undefined) => void;
}

/**
 * One connection to an exec-server, typed by the method table: calls, notifications, the end. It knows nothing of
 * processes and never reconnects; both are for the layer above.
 *
 * What listeners throw surfaces as an uncaught exception, as with `EventTarget`.
 */
export class WireClient {
  /** Id of the session; a later connection may resume it. */
  readonly sessionId: string;
  /** What the server told about its host; absent from servers that want to be asked with `environment/info`. */
  readonly environmentInfo: EnvironmentInfo | undefined;
  /** Whether output comes in binary frames: asked for with the option of that name, and granted. */
  readonly binaryOutput: boolean;
  /** Settles at the end of the connection, after the last notification. Never rejects. */
  readonly closed: Promise<string | undefined>;
  readonly #connection: OpenConnection;
  readonly #peer: Peer;
  readonly #hub: NotificationHub;
  #isPaused = false;

  /** Performs the handshake. On failure the transport is closed and the error says why. */
  static async connect(transport: Transport, options: WireClientOptions): Promise<WireClient> {
    const hub = new NotificationHub(options.onNotification);
    if (options.onOutput !== undefined) hub.onOutput(options.onOutput);
    if (options.holdEvents === false) hub.release();
    const connection = openPeer(transport, hub, options);
    const { peer } = connection;
    try {
      const session = await openSession(peer, transport, options);
      const wire = new WireClient(connection, hub, session, options.onClose);
      wire.#watch(transport, options);
      return wire;
    } catch (error) {
      peer.close();
      throw connection.violation ?? error;
    }
  }

  private constructor(
    connection: OpenConnection,
    hub: NotificationHub,
    session: InitializeResult,
    onClose: WireClientOptions['onClose'],
  ) {
    const { peer } = connection;
    this.sessionId = session.sessionId;
    this.environmentInfo = session.environmentInfo;
    this.binaryOutput = session.binaryOutput ?? false;
    this.#connection = connection;
    this.#peer = peer;
    this.#hub = hub;
    this.closed = hub.isHolding ? releaseAfterThisTurn(hub).then(() => peer.closed) : peer.closed;
    if (onClose !== undefined) void this.closed.then(onClose);
  }

  /** True from the first moment of the end. */
  get isClosed(): boolean {
    return this.#peer.isClosed;
  }

  /** What the server sent that no server sends, where that is why the connection has ended. */
  get violation(): MalformedMessageError | undefined {
    return this.#connection.violation;
  }

  /** Ends the connection because of what the server sent. */
  refuse(detail: string): void {
    this.#connection.refuse(detail);
  }

  /**
   * Calls a method. Rejects with `RpcError` when the server answers with an error, `MalformedMessageError` when its
   * answer makes no sense, `ConnectionLostError`, `CallTimeoutError`, or the reason of the signal.
   */
  call<M extends MethodName>(method: M, params: ParamsOf<M>, options?: CallOptions): Promise<ResultOf<M>> {
    return callMethod(this.#peer, method, params, options);
  }

  /** Listens to the notifications of one name until the function it returns is called. */
  on<N extends ServerNotificationName>(name: N, listener: NotificationListener<N>): () => void {
    return this.#hub.on(name, listener);
  }

  /**
   * Listens to the output of all processes as bytes until the function it returns is called. It gets everything,
   * whether it comes in binary frames or as `process/output`, in order with the notifications of the connection.
   */
  onOutput(listener: OutputListener): () => void {
    return this.#hub.onOutput(listener);
  }

  /** Stops reading, so that a server with much to say has to wait; what is already read is still delivered. */
  pause(): void {
    this.#isPaused = true;
    this.#peer.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#peer.resume();
  }

  /** Ends the connection; the server keeps the session for a while. Pending calls fail. */
  close(): void {
    this.#peer.close();
  }

  #watch(transport: Transport, { keepAlive = {}, clock = systemClock }: WireClientOptions): void {
    if (keepAlive === false || transport.measureActivity === undefined) return;
    const peer = this.#peer;
    const isPaused = () => this.#isPaused;
    const watch = new KeepAlive(
      {
        measureActivity: (untilNextMs) => transport.measureActivity?.(untilNextMs) ?? 0,
        get isPaused() {
          return isPaused();
        },
        get unansweredCalls() {
          return peer.unansweredCalls;
        },
        answersAtOnce: this.environmentInfo?.capabilities?.promptStatus === true,
        ...(transport.ping && { ping: () => transport.ping?.() }),
        // Any answer is a sign of life, also that the method is not known.
        ask: () => peer.request('environment/status', null, { exempt: true }).catch(() => {}),
        drop: (reason) => peer.destroy(reason),
      },
      keepAlive,
      clock,
    );
    void peer.closed.then(() => watch.stop());
  }
}

/** A peer, and what it was closed for if the server did not keep to the protocol. */
interface OpenConnection {
  readonly peer: Peer;
  readonly violation: MalformedMessageError | undefined;
  refuse(detail: string): void;
}

function openPeer(transport: Transport, hub: NotificationHub, options: WireClientOptions): OpenConnection {
  let violation: MalformedMessageError | undefined;
  const noteViolation = (reason: string) => {
    violation ??= new MalformedMessageError(reason);
  };
  const refuse = (detail: string) => {
    const reason = parseErrorText(transport.framing, transport.label, detail);
    noteViolation(reason);
    peer.close({ code: PROTOCOL_ERROR_CLOSE_CODE, reason });
  };
  const refuseIfMalformed = (take: () => void, describe: (detail: string) => string | undefined) => {
    try {
      take();
    } catch (error) {
      if (!(error instanceof MalformedMessageError)) throw error;
      const reason = describe(error.message);
      if (reason !== undefined) refuse(reason);
    }
    if (hub.heldCount > MAX_HELD_MESSAGES) refuse('too many notifications before the handshake');
  };
  const requests = new ServerRequests(options.onNetworkPolicyRequest);
  const takeFrame = (frame: Uint8Array) =>
    refuseIfMalformed(
      () => hub.publishOutput(decodeOutputFrame(frame)),
      (detail) => detail,
    );
  // A server in this process sends nothing but output as an object, in the very shape that a frame decodes to.
  const takeOutput = (output: object) =>
    refuseIfMalformed(
      () => hub.publishOutput(output as ProcessOutput),
      (detail) => detail,
    );
  const peer = new Peer(transport, {
    parseErrors: 'close',
    onRefused: noteViolation,
    ...(options.binaryOutput === true && { onBinary: takeFrame, onObject: takeOutput }),
    onRequest: (request) =>
      refuseIfMalformed(
        () => requests.answer(request, peer),
        (detail) => `\`${request.method}\`: ${detail}`,
      ),
    onNotification: ({ method, params }) =>
      refuseIfMalformed(
        () => {
          if (!isServerNotification(method)) return;
          const decoded = decodeResult(SERVER_NOTIFICATIONS[method].params, params);
          hub.publish({ method, params: decoded } as ServerNotification);
        },
        // Decisions are told for information only; one that cannot be read changes nothing.
        (detail) => (method === 'network/policyDecision' ? undefined : `\`${method}\`: ${detail}`),
      ),
  });
  return {
    peer,
    refuse,
    get violation() {
      return violation;
    },
  };
}

async function openSession(
  peer: Peer,
  transport: Transport,
  options: WireClientOptions,
): Promise<InitializeResult> {
  const { clientName, resumeSessionId, initializeTimeoutMs = DEFAULT_INITIALIZE_TIMEOUT_MS } = options;
  const params = {
    clientName,
    ...(resumeSessionId !== undefined && { resumeSessionId }),
    // Other transports have ping frames, or a server in this process.
    ...(transport.framing === 'lines' && { answersRequests: true }),
    // Over a transport that has no binary messages there is nothing to ask for.
    ...(options.binaryOutput === true && peer.carriesBinary && { binaryOutput: true }),
  };
  const session = await callMethod(peer, 'initialize', params, { timeoutMs: initializeTimeoutMs });
  if (resumeSessionId !== undefined && session.sessionId !== resumeSessionId) {
    throw new UnexpectedSessionError(session.sessionId);
  }
  peer.notify('initialized', {});
  return session;
}

async function callMethod<M extends MethodName>(
  peer: Peer,
  method: M,
  params: ParamsOf<M>,
  options: CallOptions = {},
): Promise<ResultOf<M>> {
  const result = await peer.request(method, params, options);
  return decodeResult(METHODS[method].result, result) as ResultOf<M>;
}

/** Lets the caller of `connect` listen first to what came along with the answer to `initialize`. */
async function releaseAfterThisTurn(hub: NotificationHub): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
  hub.release();
}
