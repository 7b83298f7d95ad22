import type { Clock } from '../clock.js';
import type { ProcessCgroup } from '../native/cgroup/process-cgroup.js';
import type { ExitStatus, LaunchedProcess, OutputStream } from '../native/launch.js';
import type { TreeMark } from '../native/tree-marks.js';
import { cutOutput, largestPiece } from '../output/cut-output.js';
import type { OutputSink } from '../output/output-sink.js';
import { Publisher } from '../output/publisher.js';
import type { RetainedChunk } from '../output/retained-chunk.js';
import { RetainedLog, type RetentionLimits } from '../output/retained-log.js';
import type { SpillFile, SpillState } from '../output/spill-file.js';
import { StreamBeginnings } from '../output/stream-beginnings.js';
import { HEAD_BYTES, type HeadAndTail, StreamHeads } from '../output/stream-heads.js';
import { judgeStatus, judgeWords, MAX_SEARCHED_BYTES } from '../sandbox/denial/judge-denial.js';
import type { ResolvedPolicy } from '../sandbox/policy/policy.js';
import { type StdinLimits, StdinQueue } from '../stdin/stdin-queue.js';
import type { ChildTraffic } from '../telemetry/metrics/server-metrics.js';
import type { TreeRoot } from '../terminate/kill-trees.js';
import type { ClosedProcess } from './closed-processes.js';
import { describeExit, type ProcessExit } from './process-exit.js';

/** Turns of the loop in which output that is ready gets its numbers before the exit does. */
const TURNS_FOR_LAST_OUTPUT = 2;

/** A reader that takes nothing more. */
const HELD: OutputSink = {
  writable: false,
  whenWritable: () => new Promise(() => {}),
  output: () => {},
  exited: () => {},
  closed: () => {},
};

/** One numbered event in the life of a process. */
export type ProcessEvent =
  | { readonly kind: 'output'; readonly seq: number; readonly chunk: RetainedChunk }
  | { readonly kind: 'exited'; readonly seq: number; readonly exit: ProcessExit }
  | { readonly kind: 'closed'; readonly seq: number };

/** Size of a terminal in characters. */
export interface TerminalSize {
  readonly rows: number;
  readonly cols: number;
}

/** What a process was started as. */
export interface ProcessDescription {
  readonly argv: readonly string[];
  /** Working directory, as a path URI. */
  readonly cwd: string;
  readonly tty: boolean;
  readonly tags: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
}

/** What a managed process is made of and whom it tells. */
export interface ManagedProcessOptions {
  /** The client's name for it, unique in its session. */
  readonly id: string;
  /** What it was started as, for those who list processes. */
  readonly description: ProcessDescription;
  readonly launched: LaunchedProcess;
  /** Size that the terminal was made with. */
  readonly size: TerminalSize;
  /** How long it may outlive its session; 0 ends it with it. */
  readonly keepAliveMs: number;
  readonly retention: RetentionLimits;
  readonly stdin: StdinLimits;
  /** Where bytes are counted, if anybody counts them. */
  readonly traffic?: ChildTraffic | undefined;
  /** Where the whole output goes too. */
  readonly spill?: SpillFile | undefined;
  /** What confines it, where its relative paths started, and how long to ask why it failed; absent if nothing does. */
  readonly sandbox?:
    | { readonly policy: ResolvedPolicy; readonly cwd: Uint8Array; readonly clock: Clock }
    | undefined;
  /** Called once, when the child has been reaped. */
  onExited(exit: ProcessExit): void;
  /** Called once, when the child has exited and every output stream is at its end. */
  onClosed(): void;
}

/**
 * A child from its start until it is forgotten: running → exited (reaped) → closed (and every stream at its end).
 * Each step is a fact from the kernel.
 */
export class ManagedProcess {
  readonly id: string;
  readonly description: ProcessDescription;
  readonly log: RetainedLog;
  /** Absent when the child's stdin is /dev/null. */
  readonly stdin: StdinQueue | undefined;
  readonly #publisher: Publisher;
  #watchers: Set<() => void> | undefined;
  readonly #heads: StreamHeads;
  readonly #largestPiece: number;
  #firstWords: StreamBeginnings | undefined;
  #size: TerminalSize;
  #openStreams: number;
  #hasEnded = false;
  #exit: { readonly seq: number; readonly exit: ProcessExit } | undefined;
  #closedSeq: number | undefined;
  #timedOut = false;
  #outputEvicted = false;
  #detachOwner: () => void = () => {};

  constructor(private readonly options: ManagedProcessOptions) {
    const { launched } = options;
    this.id = options.id;
    this.description = options.description;
    const streams = launched.outputs.map(({ stream }) => stream);
    this.#heads = new StreamHeads(streams, options.retention.bytes);
    this.log = new RetainedLog(options.retention, this.#heads);
    this.#largestPiece = largestPiece(options.retention.bytes);
    // Whether the sandbox denied something must not depend on how much a client wants to be kept.
    if (options.sandbox !== undefined && this.#heads.limitBytes < HEAD_BYTES)
      this.#firstWords = new StreamBeginnings(HEAD_BYTES);
    this.stdin =
      launched.input === null ? undefined : new StdinQueue(launched.input, options.stdin, options.traffic);
    this.#publisher = new Publisher(launched.outputs);
    this.#size = options.size;
    this.#openStreams = launched.outputs.length;
    if (options.spill !== undefined) {
      this.#publisher.attach(options.spill, { holdsBack: true });
      void options.spill.finished.then(() => this.#wake());
    }
  }

  get pid(): number {
    return this.options.launched.pid;
  }

  /** The program's number on this host, for people; `pid` may be that of whoever keeps it. */
  get programPid(): number {
    return this.options.launched.programPid ?? this.pid;
  }

  /** Whether it runs in a sandbox. */
  get confined(): boolean {
    return this.options.sandbox !== undefined;
  }

  /** What is held in memory for it, its output and what it was started as, and for how long it may be. */
  asClosed(): ClosedProcess {
    const { argv, cwd, tags } = this.description;
    const words = [this.id, cwd, ...argv, ...Object.entries(tags).flat()];
    return {
      outputBytes: this.log.retainedBytes + this.#heads.bytes + (this.#firstWords?.bytes ?? 0),
      descriptionBytes: words.reduce((sum, word) => sum + word.length, 0),
      keepAliveMs: this.keepAliveMs,
      dropOutput: () => this.#dropOutput(),
    };
  }

  /** Whether output that it would keep was dropped, to make room for that of others. */
  get outputEvicted(): boolean {
    return this.#outputEvicted;
  }

  /** The process without its output, for whoever has to remember it for long. */
  get tree(): TreeRoot {
    return this.options.launched;
  }

  /** How long it may outlive its session, in milliseconds. */
  get keepAliveMs(): number {
    return this.options.keepAliveMs;
  }

  get reaped(): boolean {
    return this.options.launched.reaped;
  }

  /** True once `pid` may name anybody. */
  get pidForgotten(): boolean {
    return this.options.launched.pidForgotten;
  }

  /** What holds everything together that the child starts. */
  get cgroup(): ProcessCgroup | null {
    return this.options.launched.cgroup;
  }

  /** What everything that the child starts inherits. */
  get mark(): TreeMark | null {
    return this.options.launched.mark;
  }

  /** Resolves some time after nothing is left of the child and what it started. */
  get gone(): Promise<void> {
    return this.options.launched.gone;
  }

  /** Resolves when the child has been reaped. Never rejects. */
  get ended(): Promise<unknown> {
    return this.options.launched.exit;
  }

  /** Whether the child has been reaped. Its exit is told some turns of the loop later, behind its last output. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** How the child ended; absent while it runs. */
  get exit(): ProcessExit | undefined {
    return this.#exit?.exit;
  }

  /** The file that the whole output goes to, if it was asked for. */
  get spill(): SpillState | undefined {
    return this.options.spill?.state;
  }

  /** Resolves when the child has been reaped and the disk has what was read from it. Never rejects. */
  get recorded(): Promise<unknown> {
    return Promise.all([this.ended, this.options.spill?.finished]);
  }

  get closed(): boolean {
    return this.#closedSeq !== undefined;
  }

  /** The first event with a number above `afterSeq` that can still be told; output may be missing before it. */
  nextEvent(afterSeq: number): ProcessEvent | undefined {
    const chunk = this.log.firstChunkAfter(afterSeq);
    const exit = this.#exit !== undefined && this.#exit.seq > afterSeq ? this.#exit : undefined;
    if (chunk !== undefined && (exit === undefined || chunk.seq < exit.seq))
      return { kind: 'output', seq: chunk.seq, chunk };
    if (exit !== undefined) return { kind: 'exited', ...exit };
    if (this.#closedSeq === undefined || this.#closedSeq <= afterSeq) return undefined;
    return { kind: 'closed', seq: this.#closedSeq };
  }

  /** Begins to read output and to wait for the end. */
  begin(): void {
    const onEnd = () => this.#streamEnded();
    for (const source of this.options.launched.outputs)
      source.start((data) => this.#append(source.stream, data), onEnd);
    void this.options.launched.exit.then((status) => {
      this.#hasEnded = true;
      this.#exitAfterOutput(status, TURNS_FOR_LAST_OUTPUT);
    });
  }

  /** Gives the events to a new owner from here on; `undefined` when nobody is attached. The child waits for its owner. */
  setOwner(sink: OutputSink | undefined): void {
    this.#detachOwner();
    this.#detachOwner = sink === undefined ? () => {} : this.#publisher.attach(sink, { holdsBack: true });
  }

  /**
   * Leaves the output of the child in the kernel, so that the child waits once that is full, until the returned function
   * is called. `onClosed` tells that there is nothing left to wait with.
   */
  hold(onClosed: () => void): () => void {
    const sink = { ...HELD, closed: onClosed };
    return this.#publisher.attach(sink, { holdsBack: true });
  }

  /** Sends a signal to the process group, which may outlive the child. False when nothing is left of it. */
  signalGroup(signal: number): boolean {
    return this.options.launched.signalGroup(signal);
  }

  /** How each stream began and how it goes on now. */
  readStreams(): HeadAndTail[] {
    return this.#heads.join(this.log.chunksAfter(0));
  }

  /** Size of the terminal; of no meaning without one. */
  get size(): TerminalSize {
    return this.#size;
  }

  /** Sets the size of the terminal. Throws `OsError`; only for a process that has one. */
  resize(size: TerminalSize): void {
    this.options.launched.resize(size);
    this.#size = size;
  }

  /** Notes that its time is up, before it is ended for that. */
  markTimedOut(): void {
    this.#timedOut = true;
  }

  /** Calls `listener` at every event from here on, until the returned function is called. */
  watch(listener: () => void): () => void {
    this.#watchers ??= new Set();
    this.#watchers.add(listener);
    return () => this.#watchers?.delete(listener);
  }

  /** Releases descriptors that the child's descendants may still hold the other end of. */
  release(): void {
    this.stdin?.release();
    for (const source of this.options.launched.outputs) source.destroy();
  }

  #append(stream: OutputStream, data: Buffer): void {
    const { traffic } = this.options;
    if (traffic !== undefined) traffic.outputBytes += data.length;
    this.#firstWords?.append(stream, data);
    if (data.length <= this.#largestPiece) this.#publish(stream, data);
    else for (const piece of cutOutput(data, this.options.retention.bytes)) this.#publish(stream, piece);
  }

  #publish(stream: OutputStream, data: Buffer): void {
    const chunk = this.log.append(stream, data);
    this.#publisher.output(chunk);
    this.#wake();
    chunk.release();
  }

  #dropOutput(): void {
    this.#outputEvicted = true;
    this.log.clear();
    this.#heads.clear();
    this.#firstWords = undefined;
  }

  #streamEnded(): void {
    this.#openStreams--;
    this.#closeWhenOver();
  }

  /** The kernel closes a child's descriptors before it reports the exit, so that what it wrote is already readable. */
  #exitAfterOutput(status: ExitStatus, turns: number): void {
    if (turns === 0 || this.#openStreams === 0) this.#exited(status);
    else setImmediate(() => this.#exitAfterOutput(status, turns - 1));
  }

  #exited(status: ExitStatus): void {
    const { sandbox } = this.options;
    const denied = sandbox === undefined ? false : judgeStatus(status);
    if (sandbox === undefined || denied !== undefined) {
      this.#settleExit(status, denied === true);
      return;
    }
    const { outputs } = this.options.launched;
    const firstWords = outputs.flatMap(({ stream }) => this.#firstWords?.of(stream) ?? []);
    const output = this.#heads
      .join(this.log.chunksAfter(0), MAX_SEARCHED_BYTES)
      .flatMap(({ head, tail, droppedBytes }) =>
        droppedBytes > 0 ? [head, tail] : Buffer.concat([head, tail]),
      );
    void judgeWords({ ...sandbox, output: [...firstWords, ...output] }).then((wasDenied) =>
      this.#settleExit(status, wasDenied),
    );
  }

  #settleExit(status: ExitStatus, sandboxDenied: boolean): void {
    const exit = describeExit(status, { timedOut: this.#timedOut, sandboxDenied });
    const seq = this.log.takeSeq();
    this.#exit = { seq, exit };
    this.#publisher.exited(seq, exit);
    this.options.onExited(exit);
    this.#wake();
    this.#closeWhenOver();
  }

  #closeWhenOver(): void {
    if (this.#exit === undefined || this.#openStreams > 0 || this.closed) return;
    this.#closedSeq = this.log.takeSeq();
    this.stdin?.release();
    this.#publisher.closed(this.#closedSeq);
    this.options.onClosed();
    this.#wake();
  }

  #wake(): void {
    for (const watcher of this.#watchers ?? []) watcher();
  }
}
