import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isResponseTo, openWire, type StdioServer, type Wire, type WireMessage } from '@exec-server/testing';
import { isStartupNews } from './app-recording.js';
import { dropFilesBelow, isRepeatedChange } from './changed-files.js';
import { makeJwt } from './jwt-cases.js';
import { compareResponse, compareValues } from './matching.js';
import type { NoteContext } from './notes/note.js';
import { replayNote } from './notes/replay-note.js';
import { DeltaBook, isOutputDelta, subjectOf } from './output-deltas.js';
import { Bindings } from './placeholders.js';
import { compareReads, isProcessEvent, ProcessLedger, type ReadResult } from './process-ledger.js';
import { type PlayOptions, Servers } from './servers.js';
import { replayCommandLine, replayHttp, replayRefusedUpgrade } from './side-events.js';
import { type Stage, setStage } from './stage.js';
import type { ClientLine, EventLine, NumberedLine, ServerLine } from './transcript.js';

/** Longer than the longest that a recorded answer took: a command that ran for 11 seconds. In milliseconds. */
const ANSWER_DEADLINE_MS = 25_000;

/** Members of notifications that say what they are about. */
const SUBJECTS = ['requestId', 'processHandle', 'sessionId', 'watchId'] as const;

/** Plays a recording against a fresh server; gives what differed, one text per place. */
export async function playScenario(
  scenario: string,
  lines: readonly NumberedLine[],
  options: PlayOptions = {},
): Promise<string[]> {
  await using stage = await setStage(scenario);
  await using player = new Player(stage, lines, options);
  try {
    await player.play();
  } catch (error) {
    player.fail(error instanceof Error ? error.message : String(error));
  }
  await player.end();
  return player.failures;
}

class Player implements AsyncDisposable {
  readonly failures: string[] = [];
  readonly #stage: Stage;
  readonly #lines: readonly NumberedLine[];
  readonly #servers: Servers;
  readonly #wires = new Map<string, Wire | StdioServer>();
  readonly #requests = new Map<string, WireMessage>();
  readonly #recorded = new Map<string, ProcessLedger>();
  readonly #played = new Map<string, ProcessLedger>();
  /** Output that carries no numbers, by connection. */
  readonly #deltas = new Map<string, DeltaBook>();
  readonly #cleanings: (() => void)[] = [];
  /** Recorded messages that have to arrive before the next step. */
  #awaited: ServerLine[] = [];
  /** The last of those that have arrived. */
  #arrived: readonly ServerLine[] = [];
  #at = 0;

  constructor(stage: Stage, lines: readonly NumberedLine[], options: PlayOptions) {
    this.#stage = stage;
    this.#lines = lines;
    this.#servers = new Servers(stage, options);
  }

  fail(...differences: string[]): void {
    const number = this.#lines[this.#at]?.number;
    this.failures.push(
      ...differences.map((text) => (number === undefined ? text : `line ${number}: ${text}`)),
    );
  }

  async play(): Promise<void> {
    for (this.#at = 0; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at]?.line;
      if (line === undefined) continue;
      if ('dir' in line && line.dir === 's2c') {
        this.#awaited.push(line);
        await this.#settleUnlessMoreFollow();
      } else if ('dir' in line) this.#send(line);
      else await this.#replay(line);
    }
  }

  /** Compares what can only be judged as a whole, and stops the server. */
  async end(): Promise<void> {
    this.#at = this.#lines.length;
    for (const [conn, wire] of this.#wires) {
      this.#drainProcessEvents(wire);
      wire.takeUnread(
        (message) =>
          isStartupNews(message) || isOutputDelta(message) || isRepeatedChange(message, wire.received),
      );
      this.fail(...this.#deltasOf(conn).compareAll(wire));
      for (const message of wire.unread) {
        this.fail(`connection ${conn} received what was not recorded: ${JSON.stringify(message)}`);
      }
    }
    for (const processId of new Set([...this.#recorded.keys(), ...this.#played.keys()])) {
      const differences = ledgerOf(this.#played, processId, this.#stage.bindings).compare(
        ledgerOf(this.#recorded, processId, this.#stage.bindings),
      );
      this.fail(...differences.map((text) => `process ${JSON.stringify(processId)}: ${text}`));
    }
    const exit = await this.#servers.stopMain();
    if (exit !== undefined && exit.code !== 0) this.fail(`the server ended with ${exit.signal ?? exit.code}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const clean of this.#cleanings) clean();
    for (const wire of this.#wires.values()) {
      if ('terminate' in wire) wire.terminate();
      else wire.kill('SIGKILL');
    }
    await this.#servers[Symbol.asyncDispose]();
  }

  async #settleUnlessMoreFollow(): Promise<void> {
    const following = this.#lines[this.#at + 1]?.line;
    if (following !== undefined && 'dir' in following && following.dir === 's2c') return;
    for (const line of this.#awaited) await this.#receive(line);
    this.#arrived = this.#awaited;
    this.#awaited = [];
  }

  #send(line: ClientLine): void {
    if (line.conn === 'stdio' && !this.#wires.has('stdio')) {
      this.#wires.set('stdio', this.#servers.startStdio());
    }
    const wire = this.#wire(line.conn);
    if (line.raw !== undefined) {
      wire.sendRaw(line.raw);
      return;
    }
    const message = this.#stage.bindings.fill(line.msg ?? {});
    if (message.id !== undefined) this.#requests.set(`${line.conn}/${message.id}`, message);
    wire.send(message);
  }

  async #receive({ conn, msg }: ServerLine): Promise<void> {
    const { bindings } = this.#stage;
    const wire = this.#wire(conn);
    if (isProcessEvent(msg)) return this.#receiveProcessEvent(wire, msg);
    if (isOutputDelta(msg)) return this.#deltasOf(conn).receive(wire, msg);
    if (msg.method !== undefined) {
      const actual = await wire.next(
        ({ method, params }) =>
          method === msg.method && SUBJECTS.every((name) => params?.[name] === msg.params?.[name]),
        `${msg.method}`,
      );
      this.fail(...this.#deltasOf(conn).compareBefore(wire, actual, subjectOf(msg)));
      return this.fail(...compareValues(msg, dropFilesBelow(bindings.fill(msg), actual), bindings));
    }
    const request = this.#requests.get(`${conn}/${msg.id}`);
    const actual = await wire.next(
      isResponseTo(msg.id ?? ''),
      `the answer ${JSON.stringify(msg)}`,
      ANSWER_DEADLINE_MS,
    );
    if (request?.method === 'command/exec')
      this.fail(...this.#deltasOf(conn).compareBefore(wire, actual, subjectOf(request)));
    if (request?.method !== 'process/read' || msg.result === undefined || actual.result === undefined) {
      return this.fail(...compareResponse(request?.method, msg, actual, bindings));
    }
    this.#receiveRead(
      wire,
      request,
      msg.result as unknown as ReadResult,
      actual.result as unknown as ReadResult,
    );
  }

  async #receiveProcessEvent(wire: Wire | StdioServer, expected: WireMessage): Promise<void> {
    const processId = String(expected.params?.processId);
    const recorded = ledgerOf(this.#recorded, processId, this.#stage.bindings);
    const played = ledgerOf(this.#played, processId, this.#stage.bindings);
    recorded.recordEvent(expected);
    while (!played.covers(recorded)) {
      const message = await wire.next(
        (candidate) => isProcessEvent(candidate) && candidate.params?.processId === processId,
        `${expected.method} of ${JSON.stringify(processId)}`,
      );
      played.recordEvent(message);
    }
  }

  #receiveRead(
    wire: Wire | StdioServer,
    request: WireMessage,
    expected: ReadResult,
    actual: ReadResult,
  ): void {
    const { bindings } = this.#stage;
    const processId = String(request.params?.processId);
    this.#drainProcessEvents(wire);
    ledgerOf(this.#recorded, processId, bindings).recordRead(expected);
    ledgerOf(this.#played, processId, bindings).recordRead(actual);
    this.fail(...compareReads(expected, actual, request.params?.waitMs !== undefined, bindings));
  }

  #drainProcessEvents(wire: Wire | StdioServer): void {
    for (const message of wire.takeUnread(isProcessEvent)) {
      ledgerOf(this.#played, String(message.params?.processId), this.#stage.bindings).recordEvent(message);
    }
  }

  async #replay(line: EventLine): Promise<void> {
    const { bindings } = this.#stage;
    switch (line.event) {
      case 'server-started': {
        const [, ...args] = bindings.fill(line.args);
        const { url } = await this.#servers.startMain(args);
        return this.fail(...compareValues(line.stdout, `${url}\n`, new Bindings(), 'stdout'));
      }
      case 'open': {
        await this.#stage.beforeOpen(line.conn);
        const token = this.#bindJwt();
        const headers = token === undefined ? this.#stage.headers : { Authorization: `Bearer ${token}` };
        this.#wires.set(line.conn, await openWire(this.#servers.main.url + line.path, { headers }));
        return;
      }
      case 'close':
        return this.#replayClose(line);
      case 'http':
        return this.fail(...(await replayHttp(this.#servers.main.port, line, bindings)));
      case 'upgrade-refused':
        this.#bindJwt();
        return this.fail(...(await replayRefusedUpgrade(this.#servers.main.url, line, bindings)));
      case 'cli':
        return this.fail(...(await replayCommandLine(this.#servers.command, line, bindings)));
      case 'stdin-eof':
        return this.#stdio().endInput();
      case 'exit': {
        const exit = await this.#stdio().exited;
        return this.fail(...compareValues({ code: line.code, signal: line.signal }, exit, bindings));
      }
      case 'timing':
        return this.#compareArrivalOrder();
      case 'side-effect': {
        const exists = existsSync(join(this.#stage.cwd, 'd/sub'));
        return this.fail(...compareValues(line.symlinkTargetStillExists, exists, bindings, 'target exists'));
      }
      case 'note':
        return this.fail(...(await replayNote(line.text, this.#noteContext())));
      case 'jwt':
        // The connection attempt before it has shown whether the token is accepted.
        return;
    }
  }

  async #replayClose(line: Extract<EventLine, { event: 'close' }>): Promise<void> {
    const wire = this.#wire(line.conn);
    if (!('closed' in wire)) throw new Error(`${line.conn} is no websocket`);
    const previous = this.#lines[this.#at - 1]?.line;
    // A close right after a message of ours is the server's answer to it; otherwise the client went.
    const byServer = previous !== undefined && 'dir' in previous && previous.dir === 'c2s';
    const closed = byServer ? await wire.closed : await wire.close();
    this.fail(
      ...compareValues({ code: line.code, reason: line.reason }, closed, this.#stage.bindings, 'close'),
    );
  }

  /** Answers to requests in flight come in any order, unless the recording says that it was looked at. */
  #compareArrivalOrder(): void {
    const ids = this.#arrived.map(({ msg }) => msg.id);
    const conn = this.#arrived[0]?.conn ?? '';
    const order = this.#wire(conn)
      .received.filter((message) => message.method === undefined && ids.includes(message.id))
      .map((message) => message.id);
    this.fail(...compareValues(ids, order, this.#stage.bindings, 'order of answers'));
  }

  /** The token of the recorded case, which stands on the line after the attempt that used it. */
  #bindJwt(): string | undefined {
    const following = this.#lines[this.#at + 1]?.line;
    if (following === undefined || !('event' in following) || following.event !== 'jwt') return undefined;
    const token = makeJwt(following.case);
    this.#stage.bindings.bind('JWT', token);
    return token;
  }

  #noteContext(): NoteContext {
    const { cwd, bindings } = this.#stage;
    return {
      cwd,
      bindings,
      command: this.#servers.command,
      server: () => this.#servers.main,
      stdio: () => this.#stdio(),
      wire: (conn) => this.#wire(conn),
      start: (args) => this.#servers.startOther(args),
      atEnd: (clean) => this.#cleanings.push(clean),
    };
  }

  #deltasOf(conn: string): DeltaBook {
    const book = this.#deltas.get(conn) ?? new DeltaBook(this.#stage.bindings);
    this.#deltas.set(conn, book);
    return book;
  }

  #wire(conn: string): Wire | StdioServer {
    const wire = this.#wires.get(conn);
    if (wire === undefined) throw new Error(`connection ${conn} is not open`);
    return wire;
  }

  #stdio(): StdioServer {
    const wire = this.#wire('stdio');
    if (!('endInput' in wire)) throw new Error('the recording has no stdio server');
    return wire;
  }
}

function ledgerOf(ledgers: Map<string, ProcessLedger>, processId: string, bindings: Bindings): ProcessLedger {
  const known = ledgers.get(processId);
  if (known !== undefined) return known;
  const ledger = new ProcessLedger(bindings);
  ledgers.set(processId, ledger);
  return ledger;
}
