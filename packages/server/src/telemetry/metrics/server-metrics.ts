import type { ProcessExit } from '../../process/process-exit.js';
import type { StartFailure } from '../../process/start-error.js';
import { EventLoopDelay } from './event-loop-delay.js';
import { Histogram } from './histogram.js';
import type { Metric, MetricSample } from './metric.js';
import { measureRuntime, measureStart } from './runtime.js';

/** Bounds of the time to an answer, in seconds: most take a fraction of a millisecond, some wait on purpose. */
const LATENCY_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10] as const;

const MILLISECONDS = 1000;

/** Stands for every method that there is not, so that clients cannot make up labels. */
const UNKNOWN_METHOD = 'unknown';

/** Bytes that went both ways. */
export interface Traffic {
  readonly receivedBytes: number;
  readonly sentBytes: number;
}

/** Bytes that children have written and were written to. Whoever moves them adds to it. */
export interface ChildTraffic {
  outputBytes: number;
  inputBytes: number;
}

/** What is held now, for everybody or for one principal. */
export interface OwnState {
  readonly connections: number;
  readonly sessions: { readonly attached: number; readonly detached: number };
  readonly processes: { readonly running: number; readonly closed: number };
  readonly pendingRequests: number;
  readonly outboundBytes: number;
  readonly stdinBytes: number;
  readonly waitingStdinWrites: number;
  readonly closedOutputBytes: number;
}

/** What only its owner knows about a server, as of now. */
export interface ServerState extends OwnState {
  /** Bytes of the connections that are open. */
  readonly traffic: Traffic;
}

/** How a process ended, in one word. */
type Outcome = 'succeeded' | 'failed' | 'signaled' | 'timed_out' | 'sandbox_denied' | 'unknown';

/** What a server has counted since it was made. */
export class ServerMetrics implements Disposable {
  readonly childTraffic: ChildTraffic = { outputBytes: 0, inputBytes: 0 };
  readonly #latencies = new Map<string, Histogram>();
  readonly #refusedConnections = new Counters();
  readonly #errors = new Counters();
  readonly #outcomes = new Counters();
  readonly #refusals = new Counters();
  readonly #eventLoopDelay = new EventLoopDelay();
  #connections = 0;
  #sessions = 0;
  #processes = 0;
  readonly #closedTraffic = { receivedBytes: 0, sentBytes: 0 };

  /** `method` is absent for one that there is not, `errorCode` for an answer that is a result. */
  countAnswer(method: string | undefined, latencyMs: number, errorCode: number | undefined): void {
    const name = method ?? UNKNOWN_METHOD;
    this.#latenciesOf(name).observe(latencyMs / MILLISECONDS);
    if (errorCode !== undefined) this.#errors.count({ ...methodLabels(name), code: String(errorCode) });
  }

  countConnection(): void {
    this.#connections++;
  }

  countRefusedConnection(status: number): void {
    this.#refusedConnections.count({ status: String(status) });
  }

  /** Keeps what went over a connection that has ended. */
  keepTraffic({ receivedBytes, sentBytes }: Traffic): void {
    this.#closedTraffic.receivedBytes += receivedBytes;
    this.#closedTraffic.sentBytes += sentBytes;
  }

  countSession(): void {
    this.#sessions++;
  }

  countStart(): void {
    this.#processes++;
  }

  countRefusal(reason: StartFailure): void {
    this.#refusals.count({ reason });
  }

  countEnd(exit: ProcessExit): void {
    this.#outcomes.count({ outcome: outcomeOf(exit) });
  }

  /** Everything that is known, beside what the owner knows. */
  collect(state: ServerState): Metric[] {
    return [
      ...collectHoldings(state),
      counter('connections_total', 'Connections that were accepted.', this.#connections),
      counter('connections_refused_total', 'Upgrades that were refused.', this.#refusedConnections.samples()),
      ...this.#collectTraffic(state),
      counter('sessions_total', 'Sessions that were opened.', this.#sessions),
      counter('processes_started_total', 'Processes that were started.', this.#processes),
      counter('processes_refused_total', 'Starts that failed, by reason.', this.#refusals.samples()),
      counter('processes_ended_total', 'Processes that ended, by outcome.', this.#outcomes.samples()),
      ...this.#collectRequests(),
      gauge(
        'event_loop_delay_seconds',
        'How late the event loop was since the last time this was read.',
        this.#eventLoopDelay.sample(),
      ),
      ...measureRuntime(),
    ];
  }

  [Symbol.dispose](): void {
    this.#eventLoopDelay[Symbol.dispose]();
  }

  #latenciesOf(method: string): Histogram {
    const known = this.#latencies.get(method);
    if (known !== undefined) return known;
    const latencies = new Histogram(LATENCY_BOUNDS);
    this.#latencies.set(method, latencies);
    return latencies;
  }

  #collectTraffic({ traffic }: ServerState): Metric[] {
    const { receivedBytes, sentBytes } = this.#closedTraffic;
    const { outputBytes, inputBytes } = this.childTraffic;
    return [
      counter(
        'received_bytes_total',
        'Bytes received over sockets and stdio.',
        receivedBytes + traffic.receivedBytes,
      ),
      counter('sent_bytes_total', 'Bytes sent over sockets and stdio.', sentBytes + traffic.sentBytes),
      counter('process_output_bytes_total', 'Bytes read from processes.', outputBytes),
      counter('process_input_bytes_total', 'Bytes written to processes.', inputBytes),
    ];
  }

  #collectRequests(): Metric[] {
    return [
      {
        type: 'histogram',
        name: 'exec_server_request_duration_seconds',
        help: 'Time from a request to its answer; some wait on purpose.',
        samples: Array.from(this.#latencies, ([name, latencies]) => latencies.sample(methodLabels(name))),
      },
      counter('request_errors_total', 'Requests that were answered with an error.', this.#errors.samples()),
    ];
  }
}

/** Counts by labels. */
class Counters {
  readonly #counts = new Map<string, { readonly labels: MetricSample['labels']; value: number }>();

  count(labels: MetricSample['labels']): void {
    const key = Object.values(labels).join('\n');
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { labels, value: 1 });
    else known.value++;
  }

  samples(): MetricSample[] {
    return Array.from(this.#counts.values(), ({ labels, value }) => ({ labels, value }));
  }
}

/**
 * What a principal may know who is not alone: what it holds itself. Whatever is counted or used for all together would tell
 * it what the others do.
 */
export function collectOwn(state: OwnState): Metric[] {
  return [...collectHoldings(state), measureStart()];
}

function collectHoldings(state: OwnState): Metric[] {
  return [
    gauge('connections', 'Connections that are open.', state.connections),
    gauge('sessions', 'Sessions, with and without a connection.', [
      { labels: { state: 'attached' }, value: state.sessions.attached },
      { labels: { state: 'detached' }, value: state.sessions.detached },
    ]),
    gauge('processes', 'Processes that run, and those that have closed and can still be read.', [
      { labels: { state: 'running' }, value: state.processes.running },
      { labels: { state: 'closed' }, value: state.processes.closed },
    ]),
    gauge('requests_pending', 'Requests that are queued, run or wait.', state.pendingRequests),
    gauge('outbound_queue_bytes', 'Bytes that connections have not taken yet.', state.outboundBytes),
    gauge('stdin_queue_bytes', 'Bytes that processes have not taken yet.', state.stdinBytes),
    gauge('stdin_writes_waiting', 'Writes that wait for room in those queues.', state.waitingStdinWrites),
    gauge('closed_output_bytes', 'Bytes kept of processes that have closed.', state.closedOutputBytes),
  ];
}

function outcomeOf({ status, timedOut, sandboxDenied, exitCode }: ProcessExit): Outcome {
  if (timedOut) return 'timed_out';
  if (sandboxDenied) return 'sandbox_denied';
  if (status.kind !== 'exited') return status.kind;
  return exitCode === 0 ? 'succeeded' : 'failed';
}

function methodLabels(method: string): { family: string; method: string } {
  return { family: method.split('/', 1)[0] ?? method, method };
}

function counter(name: string, help: string, value: number | readonly MetricSample[]): Metric {
  return { type: 'counter', name: `exec_server_${name}`, help, samples: asSamples(value) };
}

function gauge(name: string, help: string, value: number | readonly MetricSample[]): Metric {
  return { type: 'gauge', name: `exec_server_${name}`, help, samples: asSamples(value) };
}

function asSamples(value: number | readonly MetricSample[]): readonly MetricSample[] {
  return typeof value === 'number' ? [{ labels: {}, value }] : value;
}
