import type { ExecServer } from '@exec-server/server';
import { type InProcessWire, openInProcessWire, type WireMessage } from '@exec-server/testing';
import { expect } from 'vitest';
import type { FakeClock } from '../../packages/server/test/support/fake-clock.js';
import { startParams } from '../../packages/server/test/support/session.js';
import { INTERRUPTED, KILLED, PROGRAMS, ProcessModel, type ReadAnswer } from './process-model.js';
import type { Step } from './schedule.js';

/** How long a session without a connection is kept, in milliseconds of the fake clock. */
export const DETACHED_MS = 30_000;

/** Longer than any schedule lasts on the fake clock, in milliseconds. */
const LONG_POLL_MS = 3_600_000;

const INVALID_REQUEST = -32600;
const INTERNAL_ERROR = -32603;
const SESSION_ATTACHED = -32010;

type StepOf<D extends Step['do']> = Extract<Step, { readonly do: D }>;

/** A client, its session, and what the server must answer it. */
export class ClientModel {
  readonly processes: ProcessModel[] = [];
  /** Every process that it ever started, on the host. */
  readonly pids: number[] = [];
  /** Requests whose answers nobody waited for. */
  readonly #polls: Promise<unknown>[] = [];
  #wire: InProcessWire | undefined;
  #sessionId: string | undefined;
  #detachedAt: number | undefined;
  #takenMessages = 0;
  #starts = 0;
  #writes = 0;

  constructor(
    private readonly server: ExecServer,
    private readonly clock: FakeClock,
    private readonly name: string,
  ) {}

  get isConnected(): boolean {
    return this.#wire !== undefined;
  }

  /** Opens a session, gets the one back that it had, or learns that this cannot be. */
  async connect(): Promise<void> {
    const expired = this.#detachedAt !== undefined && this.clock.now() - this.#detachedAt >= DETACHED_MS;
    const wire = openInProcessWire(this.server);
    const answer = await wire.request('initialize', {
      clientName: this.name,
      resumeSessionId: this.#sessionId,
    });
    if (this.#wire !== undefined || expired) {
      expect(answer.error?.code).toBe(expired ? INVALID_REQUEST : SESSION_ATTACHED);
      await wire.close();
      if (!expired) return;
      this.#forgetSession();
      return this.connect();
    }
    expect(answer.error).toBeUndefined();
    const { sessionId } = answer.result as { sessionId: string };
    if (this.#sessionId !== undefined) expect(sessionId).toBe(this.#sessionId);
    wire.send({ method: 'initialized' });
    this.#sessionId = sessionId;
    this.#wire = wire;
    this.#takenMessages = 0;
    this.#detachedAt = undefined;
  }

  async disconnect(): Promise<void> {
    await this.#wire?.close();
    this.takePushes();
    this.#wire = undefined;
    this.#detachedAt = this.clock.now();
    for (const process of this.processes) process.loseConnection();
    // The server's end of the connection closes in this turn of the loop.
    await new Promise(setImmediate);
  }

  #forgetSession(): void {
    this.#sessionId = undefined;
    this.#detachedAt = undefined;
    this.processes.length = 0;
  }

  async start({ program, reuse, cap }: StepOf<'start'>): Promise<void> {
    const former = reuse === undefined ? undefined : this.processes[reuse % this.processes.length];
    const id = former?.id ?? `${this.name}-${++this.#starts}`;
    const extras = { pipeStdin: program === 'cat', outputBytesCap: cap };
    const answer = await this.#request('process/start', startParams(id, PROGRAMS[program], extras));
    this.takePushes(answer);
    const now = this.clock.now();
    const { pid } = (answer.result ?? {}) as { pid?: number };
    if (program === 'missing' && !(former && answer.error?.code === INVALID_REQUEST))
      expect(answer.error?.code).toBe(INTERNAL_ERROR);
    if (former !== undefined) {
      if (former.mustBeForgotten(now)) expect(answer.error?.code).not.toBe(INVALID_REQUEST);
      if (!former.mayBeForgotten(now)) expect(answer.error?.code).toBe(INVALID_REQUEST);
    } else if (program !== 'missing') expect(answer.error).toBeUndefined();
    if (pid === undefined) return;
    if (former !== undefined) this.processes.splice(this.processes.indexOf(former), 1);
    this.pids.push(pid);
    this.processes.push(new ProcessModel(id, pid, program, cap ?? Number.POSITIVE_INFINITY, now));
    this.takePushes();
  }

  async read(
    process: ProcessModel,
    asked: { readonly afterSeq: number; readonly maxBytes?: number },
  ): Promise<void> {
    const { afterSeq, maxBytes } = asked;
    const answer = await this.#request('process/read', { processId: process.id, afterSeq, maxBytes });
    this.takePushes();
    if (this.#isForgotten(process, answer)) return;
    process.takeRead(answer.result as unknown as ReadAnswer, this.clock.now(), asked);
  }

  /** Asks for whatever comes next and goes on; the answer is looked at when it comes. */
  poll(process: ProcessModel): void {
    const params = { processId: process.id, afterSeq: 1_000_000, waitMs: LONG_POLL_MS };
    const wire = this.#wire as InProcessWire;
    const poll = wire.request('process/read', params).then(
      ({ result }) => result && process.takeRead(result as unknown as ReadAnswer, this.clock.now()),
      // The connection went first.
      () => undefined,
    );
    this.#polls.push(poll);
  }

  async write(process: ProcessModel, { text, twice }: StepOf<'write'>): Promise<void> {
    const chunk = Buffer.from(text).toString('base64');
    const params = { processId: process.id, chunk, writeId: `write-${++this.#writes}` };
    const { result, error } = await this.#request('process/write', params);
    const status = result?.status;
    const now = this.clock.now();
    if (status === 'unknownProcess') expect(process.mayBeForgotten(now)).toBe(true);
    else if (process.mustBeForgotten(now)) expect(status).toBe('unknownProcess');
    else if (!process.takesInput || !process.stdinOpen) expect(status).toBe('stdinClosed');
    else if (process.possibleExits.size === 0) expect(status).toBe('accepted');
    else expect(['accepted', 'stdinClosed', undefined]).toContain(status);
    if (error !== undefined) expect(error.code).toBe(INTERNAL_ERROR);
    if (status !== 'accepted') return;
    process.written += text;
    if (!twice) return;
    const again = await this.#request('process/write', params);
    expect(again.error ?? again.result).toEqual({ status: 'accepted' });
  }

  async closeStdin(process: ProcessModel): Promise<void> {
    const { result, error } = await this.#request('process/closeStdin', { processId: process.id });
    const now = this.clock.now();
    const wasOpen = process.stdinOpen;
    if (result?.status === 'unknownProcess') expect(process.mayBeForgotten(now)).toBe(true);
    else if (!wasOpen) expect(result?.status).toBe('stdinClosed');
    else if (process.possibleExits.size === 0) expect(error ?? result).toEqual({ status: 'accepted' });
    if (error !== undefined) expect(error.code).toBe(INTERNAL_ERROR);
    if (result?.status !== 'accepted') return;
    process.stdinOpen = false;
    process.mayEnd(0, now);
  }

  async interrupt(process: ProcessModel): Promise<void> {
    process.mayEnd(INTERRUPTED, this.clock.now());
    const { result } = await this.#request('process/signal', { processId: process.id, signal: 'interrupt' });
    expect(result).toEqual({});
  }

  async terminate(process: ProcessModel): Promise<void> {
    const mustRun = process.possibleExits.size === 0;
    const hasEnded = process.isKnownToHaveEnded;
    process.mayEnd(KILLED, this.clock.now());
    const { result } = await this.#request('process/terminate', { processId: process.id });
    if (mustRun) expect(result?.running).toBe(true);
    if (hasEnded) expect(result?.running).toBe(false);
  }

  /** Waits until everything that was written has come out again, where that has to happen and is retained. */
  async awaitEcho(process: ProcessModel): Promise<void> {
    if (!process.takesInput || process.possibleExits.size > 0 || process.cap < process.written.length) return;
    for (let afterSeq = 0, echoed = 0; echoed < Buffer.byteLength(process.written); ) {
      const params = { processId: process.id, afterSeq, waitMs: LONG_POLL_MS };
      const read = (await this.#request('process/read', params)).result as unknown as ReadAnswer;
      this.takePushes();
      process.takeRead(read, this.clock.now());
      echoed += read.chunks.reduce((sum, { chunk }) => sum + Buffer.byteLength(chunk, 'base64'), 0);
      afterSeq = read.nextSeq - 1;
    }
  }

  /** Waits for the end of a process that has to come, and looks at all that it left. */
  async awaitEnd(process: ProcessModel): Promise<void> {
    if (process.possibleExits.size === 0) return;
    for (let afterSeq = 0; ; ) {
      const answer = await this.#request('process/read', {
        processId: process.id,
        afterSeq,
        waitMs: LONG_POLL_MS,
      });
      this.takePushes();
      if (this.#isForgotten(process, answer)) return;
      const read = answer.result as unknown as ReadAnswer;
      process.takeRead(read, this.clock.now());
      afterSeq = read.nextSeq - 1;
      if (read.closed) break;
    }
    const whole = await this.#request('process/read', { processId: process.id });
    process.checkWhole(whole.result as unknown as ReadAnswer);
  }

  async list(): Promise<void> {
    const { result } = await this.#request('process/list', {});
    this.takePushes();
    const { processes } = result as { processes: { readonly pid: number }[] };
    const listed = processes.map(({ pid }) => pid);
    const now = this.clock.now();
    for (const process of this.processes) {
      if (process.mustBeForgotten(now)) expect(listed).not.toContain(process.pid);
      if (!process.mayBeForgotten(now)) expect(listed).toContain(process.pid);
    }
    expect(listed.filter((pid) => !this.pids.includes(pid))).toEqual([]);
  }

  async settlePolls(): Promise<void> {
    await Promise.all(this.#polls);
  }

  #request(method: string, params: object): Promise<WireMessage> {
    return (this.#wire as InProcessWire).request(method, params);
  }

  #isForgotten(process: ProcessModel, { error }: WireMessage): boolean {
    const now = this.clock.now();
    if (error === undefined) {
      expect(process.mustBeForgotten(now), `${process.id} must be forgotten`).toBe(false);
      return false;
    }
    const message = `unknown process id ${process.id}`;
    expect(error).toMatchObject({ code: INVALID_REQUEST, message, data: { code: 'process_expired' } });
    expect(process.mayBeForgotten(now), `${process.id} is forgotten too early`).toBe(true);
    return true;
  }

  /** Takes what was pushed, up to a given message if there is one. */
  takePushes(until?: WireMessage): void {
    const messages = this.#wire?.received ?? [];
    while (this.#takenMessages < messages.length) {
      const message = messages[this.#takenMessages] as WireMessage;
      if (message === until) return;
      this.#takenMessages++;
      this.#takePush(message);
    }
  }

  #takePush({ method, params }: WireMessage): void {
    const process = this.processes.find(({ id }) => id === params?.processId);
    if (method === undefined || process === undefined) return;
    const { seq, stream, chunk, exitCode } = params as {
      seq: number;
      stream: string;
      chunk: string;
      exitCode: number;
    };
    const now = this.clock.now();
    if (method === 'process/output') process.takePush(seq, { kind: 'output', stream, chunk }, now);
    if (method === 'process/exited') process.takePush(seq, { kind: 'exited', exitCode }, now);
    if (method === 'process/closed') process.takePush(seq, { kind: 'closed' }, now);
  }
}
