import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeFault, type Fault } from './fault.js';
import { FaultyLink } from './faulty-link.js';
import { resetSocket } from './reset-socket.js';
import { createLineUnitSplitter, createWebSocketSplitter } from './wire-splitter.js';

const UNIX_PREFIX = 'unix://';

/** How many more connections have to come until the server learns that it talks to nobody. */
const STRANDED_FOR_CONNECTIONS = 2;

/**
 * Stands before a server at `ws://` or `unix://` and lets things go wrong by a schedule: each fault strikes once, at
 * its place in what is said, never by the clock.
 */
export class FaultProxy implements AsyncDisposable {
  readonly #target: string;
  readonly #server: Server;
  readonly #pending: Fault[];
  readonly #story: string[] = [];
  readonly #links = new Set<FaultyLink>();
  readonly #stranded: { readonly until: number; readonly socket: Socket }[] = [];
  #directory: string | undefined;
  #connections = 0;
  #refusals = 0;
  #onStory: () => void = () => {};

  /** Listens beside `target`, for the same kind of clients. */
  static async start(target: string, faults: readonly Fault[] = []): Promise<FaultProxy> {
    const proxy = new FaultProxy(target, faults);
    if (proxy.#isUnix) {
      proxy.#directory = await mkdtemp(join(tmpdir(), 'fault-proxy-'));
      proxy.#server.listen(join(proxy.#directory, 'socket'));
    } else {
      proxy.#server.listen(0, '127.0.0.1');
    }
    await once(proxy.#server, 'listening');
    return proxy;
  }

  private constructor(target: string, faults: readonly Fault[]) {
    this.#target = target;
    this.#pending = [...faults];
    // Half-open, so that one end of a line does not end the other.
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  }

  /** Where clients connect. */
  get url(): string {
    const address = this.#server.address() as AddressInfo | string;
    return typeof address === 'string' ? `${UNIX_PREFIX}${address}` : `ws://127.0.0.1:${address.port}`;
  }

  /** What came to pass, in order: connections, refusals and faults. */
  get story(): readonly string[] {
    return this.#story;
  }

  /** Connections so far, those that were refused not counted. */
  get connections(): number {
    return this.#connections;
  }

  /** Faults that have not struck yet. */
  get pending(): readonly Fault[] {
    return this.#pending;
  }

  /** Adds a fault for what is still to be said. */
  schedule(fault: Fault): void {
    this.#pending.push(fault);
  }

  /** Resets all connections, and refuses so many of the next. */
  cutAll(refuse = 0): void {
    this.#refusals += refuse;
    this.#tell(`everything cut${refuse === 0 ? '' : `, then ${refuse} refused`}`);
    for (const link of this.#links) link.reset();
  }

  /** Lets nothing of all connections through any more, without telling anybody. Those that come later are not concerned. */
  swallowAll(): void {
    this.#tell('everything swallowed');
    for (const link of this.#links) link.swallow();
  }

  /** Refuses nobody from now on. */
  admitAll(): void {
    this.#refusals = 0;
  }

  /** Resolves once the story has a line that fits. */
  async until(fits: (line: string) => boolean): Promise<void> {
    while (!this.#story.some(fits)) {
      await new Promise<void>((resolve) => {
        const before = this.#onStory;
        this.#onStory = () => {
          before();
          resolve();
        };
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const link of this.#links) link.reset();
    for (const { socket } of this.#stranded) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
    if (this.#directory !== undefined) await rm(this.#directory, { recursive: true });
  }

  get #isUnix(): boolean {
    return this.#target.startsWith(UNIX_PREFIX);
  }

  #accept(client: Socket): void {
    client.on('error', () => {});
    if (this.#refusals > 0) {
      this.#refusals--;
      this.#tell('connection refused');
      resetSocket(client);
      return;
    }
    const number = ++this.#connections;
    this.#tell(`connection ${number}`);
    this.#releaseStranded(number);
    const createSplitter = this.#isUnix ? createLineUnitSplitter : createWebSocketSplitter;
    const link = new FaultyLink(client, this.#dial(), {
      number,
      createSplitter,
      pending: this.#pending,
      onFault: (fault) => this.#strike(fault, number),
      onStranded: (socket) => {
        this.#stranded.push({ until: number + STRANDED_FOR_CONNECTIONS, socket });
      },
      onEnd: () => this.#links.delete(link),
    });
    this.#links.add(link);
  }

  #dial(): Socket {
    if (this.#isUnix)
      return createConnection({ path: this.#target.slice(UNIX_PREFIX.length), allowHalfOpen: true });
    const { hostname, port } = new URL(this.#target);
    return createConnection({ host: hostname, port: Number(port), allowHalfOpen: true });
  }

  #strike(fault: Fault, connection: number): void {
    this.#pending.splice(this.#pending.indexOf(fault), 1);
    this.#refusals += fault.refuse ?? 0;
    this.#tell(`on connection ${connection}: ${describeFault(fault)}`);
  }

  #releaseStranded(connection: number): void {
    for (const { until, socket } of this.#stranded) if (connection >= until) socket.destroy();
  }

  #tell(line: string): void {
    this.#story.push(line);
    const tell = this.#onStory;
    this.#onStory = () => {};
    tell();
  }
}
