import { createInterface } from 'node:readline';
import { Inbox, isResponseTo, type MessagePredicate, type WireMessage } from './inbox.js';
import { type CommandOptions, type Exit, SpawnedCommand } from './spawned-command.js';

/** A server that speaks lines of JSON over its stdin and stdout. */
export class StdioServer implements AsyncDisposable {
  readonly #command: SpawnedCommand;
  readonly #inbox = new Inbox();
  #nextId = 1;

  constructor(options: CommandOptions) {
    this.#command = new SpawnedCommand(options);
    createInterface({ input: this.#command.stdout }).on('line', (line) => {
      this.#inbox.deliver(JSON.parse(line) as WireMessage);
    });
    void this.exited.then(({ code, signal }) => {
      this.#inbox.end(this.#command.failure(`ended with ${signal ?? code}`).message);
    });
  }

  get pid(): number {
    return this.#command.pid;
  }

  get exited(): Promise<Exit> {
    return this.#command.exited;
  }

  get received(): readonly WireMessage[] {
    return this.#inbox.received;
  }

  get unread(): readonly WireMessage[] {
    return this.#inbox.unread;
  }

  stderr(): string {
    return this.#command.stderr();
  }

  send(message: object): void {
    this.sendRaw(`${JSON.stringify(message)}\n`);
  }

  /** Writes bytes as they are: the caller ends the line. */
  sendRaw(data: string | Buffer): void {
    this.#command.stdin.write(data);
  }

  async request(method: string, params?: unknown, deadlineMs?: number): Promise<WireMessage> {
    const id = this.#nextId++;
    this.send(params === undefined ? { id, method } : { id, method, params });
    return this.#inbox.next(isResponseTo(id), `the response to ${method} (id ${id})`, deadlineMs);
  }

  /** See {@link Inbox.next}. */
  next(predicate: MessagePredicate, what: string, deadlineMs?: number): Promise<WireMessage> {
    return this.#inbox.next(predicate, what, deadlineMs);
  }

  /** See {@link Inbox.takeUnread}. */
  takeUnread(predicate: MessagePredicate): WireMessage[] {
    return this.#inbox.takeUnread(predicate);
  }

  /** Closes the server's stdin, which ends its session. */
  endInput(): void {
    this.#command.stdin.end();
  }

  kill(signal: NodeJS.Signals): void {
    this.#command.kill(signal);
  }

  stop(): Promise<Exit> {
    return this.#command.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Starts a server on stdio: `--listen stdio` unless `args` name a listener. */
export function startStdioServer(options: CommandOptions = {}): StdioServer {
  const args = options.args ?? [];
  return new StdioServer({
    ...options,
    args: args.includes('--listen') ? args : ['--listen', 'stdio', ...args],
  });
}
