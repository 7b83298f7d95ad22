import { ErrorCode, type ErrorData, formatRequestId, type RequestId, RpcError } from '@exec-server/protocol';
import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import { spareBuffers } from '@exec-server/rpc/node';
import type { Clock } from '../../clock.js';
import type { FileAccess } from '../../connection/file-order.js';
import { outputBlocks } from '../../native/block-pool.js';
import type { LaunchedProcess, Launcher } from '../../native/launch.js';
import { createMemoryFile } from '../../native/memory-file.js';
import type { Logger } from '../../telemetry/logger.js';
import { killOneTree } from '../../terminate/kill-one-tree.js';
import type { SandboxBackends } from '../backends.js';
import { launchConfined } from '../launch-confined.js';
import type { ResolvedPolicy } from '../policy/policy.js';
import {
  encodeFrame,
  type Frame,
  FrameKind,
  FrameReader,
  type HelperCall,
  type HelperFailure,
  type ReceivedFrame,
} from './frames.js';
import { makeRoomForHelper } from './helper-policy.js';
import { BOOT_SCRIPT, CODE_FD, readHelperCode } from './helper-program.js';
import { findRuntime } from './runtime-paths.js';

/** Calls that a helper works on at once; the others wait. */
export const MAX_CALLS_IN_FLIGHT = 64;
/** Largest answer, in bytes: the largest file that is read at once, in base64. */
const MAX_ANSWER_BYTES = 768 * 1024 * 1024;
/** Most of what a helper complains about that goes into the log, in bytes. */
const MAX_COMPLAINT_BYTES = 4_096;
/** A body of at most so many bytes goes in one piece with its header; copying a larger one costs more than it saves. */
const WHOLE_FRAME_BYTES = 65_536;
/** How long a helper that is told to end may take, in milliseconds. */
const END_GRACE_MS = 1_000;

/** What a helper answers: a result, or a response that it has encoded. */
export type HelperAnswer =
  | { readonly kind: 'result'; readonly value: unknown }
  | { readonly kind: 'response'; readonly line: Uint8Array; readonly onFree: () => void };

export interface CallOptions {
  /** The request that the call is made for. */
  readonly requestId: RequestId;
  readonly signal: AbortSignal;
}

/** A helper ended while it was needed. */
export class HelperGoneError extends RpcError {
  constructor() {
    super(ErrorCode.internalError, 'the file system sandbox ended unexpectedly', {
      data: { code: 'internal_error' } satisfies ErrorData,
    });
  }
}

interface PendingCall {
  readonly resolve: (answer: HelperAnswer) => void;
  readonly reject: (error: Error) => void;
}

export interface FileHelperOptions {
  readonly launcher: Launcher;
  readonly backends: SandboxBackends;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * A process that does file operations for this server inside of a sandbox: whatever a path leads through, it leads to
 * nothing that the sandbox does not contain.
 */
export class FileHelper {
  readonly #pending = new Map<number, PendingCall>();
  readonly #waiting: (() => void)[] = [];
  readonly #launched: LaunchedProcess;
  readonly #options: FileHelperOptions;
  #lastId = 0;
  #lastWrite: Promise<void> = Promise.resolve();
  #complaints = '';
  #gone = false;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;

  /** @param empty resolves when nothing is left of its sandbox */
  private constructor(
    launched: LaunchedProcess,
    private readonly empty: Promise<void>,
    options: FileHelperOptions,
  ) {
    this.#launched = launched;
    this.#options = options;
    const reader = new FrameReader(MAX_ANSWER_BYTES, (frame) => this.#take(frame));
    for (const source of launched.outputs)
      source.start(
        (chunk) => (source.stream === 'stdout' ? this.#read(reader, chunk) : this.#hear(chunk)),
        noop,
      );
    this.ended = launched.exit.then((status) => {
      this.#gone = true;
      this.#failAll();
      if (this.#complaints !== '')
        options.logger.warn({ status, complaints: this.#complaints }, 'a helper for files complained');
      launched.input?.close();
      for (const source of launched.outputs) source.destroy();
    });
  }

  /**
   * Starts one for a policy. Throws `PolicyError` when the policy cannot be kept, and `OsError`.
   * @param access one that is to read can write nothing at all
   */
  static async start(
    files: ResolvedPolicy['files'],
    access: FileAccess,
    options: FileHelperOptions,
  ): Promise<FileHelper> {
    const code = createMemoryFile(readHelperCode());
    const { promise: empty, resolve: onEmpty } = withResolvers();
    try {
      const seen = files === 'unrestricted' ? files : await makeRoomForHelper(files);
      const policy: ResolvedPolicy = { files: seen, network: 'restricted' };
      const launched = await launchConfined(policy, planHelper(code.fd), {
        launcher: options.launcher,
        backends: options.backends,
        readOnly: access === 'reads',
        readOnlyProc: true,
        privateStreams: true,
        onLaunched: noop,
        onEmpty,
      });
      return new FileHelper(launched, empty, options);
    } finally {
      code.close();
    }
  }

  get isGone(): boolean {
    return this.#gone;
  }

  /** Has it do something. Throws an {@link RpcError} with its answer, or {@link HelperGoneError}. */
  async call(method: string, params: unknown, { requestId, signal }: CallOptions): Promise<HelperAnswer> {
    if (this.#pending.size >= MAX_CALLS_IN_FLIGHT)
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    signal.throwIfAborted();
    if (this.#gone) throw new HelperGoneError();
    this.#lastId = (this.#lastId + 1) >>> 0;
    const id = this.#lastId;
    const cancel = () => this.#send({ kind: FrameKind.cancel, id, body: Buffer.alloc(0) });
    try {
      return await new Promise<HelperAnswer>((resolve, reject) => {
        this.#pending.set(id, { resolve, reject });
        addAbortListener(signal, cancel);
        const call: HelperCall = { method, params, requestId: formatRequestId(requestId) };
        this.#send({ kind: FrameKind.call, id, body: Buffer.from(JSON.stringify(call)) });
      });
    } finally {
      removeAbortListener(signal, cancel);
      this.#pending.delete(id);
      this.#waiting.shift()?.();
    }
  }

  /** Ends it, kindly at first. Resolves when nothing is left of it and its sandbox. */
  async end(): Promise<void> {
    this.#launched.input?.close();
    const timer = this.#options.clock.after(END_GRACE_MS, () => this.kill());
    // Nothing else keeps the loop alive until the sandbox is gone, and whoever waits here wants to see that.
    const keepAlive = setInterval(noop, END_GRACE_MS);
    await Promise.all([this.ended, this.empty]);
    clearInterval(keepAlive);
    timer.cancel();
  }

  kill(): void {
    void killOneTree(this.#launched);
  }

  #send(frame: Frame): void {
    const parts = encodeFrame(frame);
    // A small one at once: each write wakes the helper.
    const writes = frame.body.length <= WHOLE_FRAME_BYTES ? [Buffer.concat(parts)] : parts;
    for (const part of writes) {
      this.#lastWrite = this.#lastWrite.then(() => this.#launched.input?.write(part)).catch(noop);
    }
  }

  #read(reader: FrameReader, chunk: Buffer): void {
    try {
      reader.push(chunk);
      outputBlocks.giveBack(chunk);
    } catch (error) {
      this.#options.logger.warn({ error }, 'a helper for files does not make sense');
      this.kill();
    }
  }

  #take({ kind, id, body }: ReceivedFrame): void {
    const call = this.#pending.get(id);
    const onFree = () => spareBuffers.give(body);
    if (kind === FrameKind.response && call !== undefined) {
      call.resolve({ kind: 'response', line: body, onFree });
      return;
    }
    if (kind === FrameKind.result) call?.resolve({ kind: 'result', value: parse(body) });
    else if (kind === FrameKind.failure) call?.reject(toError(parse(body) as HelperFailure));
    onFree();
  }

  #hear(chunk: Buffer): void {
    this.#complaints = (this.#complaints + chunk.toString()).slice(0, MAX_COMPLAINT_BYTES);
  }

  #failAll(): void {
    for (const { reject } of this.#pending.values()) reject(new HelperGoneError());
  }
}

function planHelper(codeFd: number) {
  const argv = ['exec-server-files', '--no-addons', '--no-warnings', '-e', BOOT_SCRIPT];
  return {
    program: findRuntime().program,
    argv,
    cwd: Buffer.from('/'),
    env: new Map<string, string>(),
    stdio: { kind: 'pipes', stdin: 'pipe' } as const,
    extraDescriptors: [{ fd: codeFd, as: CODE_FD }],
  };
}

function parse(body: Uint8Array): unknown {
  return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString());
}

function toError({ code, message, data }: HelperFailure): Error {
  return code === undefined ? new Error(message) : new RpcError(code, message, { data });
}

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = noop;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function noop(): void {}
