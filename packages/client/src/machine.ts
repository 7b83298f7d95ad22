import type { EnvironmentInfo } from '@exec-server/protocol';
import type { CloseOptions, ConnectionState, StateListener } from './connection-state.js';
import { asyncDispose } from './dispose-symbol.js';
import { confineFiles } from './fs/confine-files.js';
import { createFileSystem } from './fs/create-file-system.js';
import type { FileSystem } from './fs/file-system.js';
import { createFetch, type Fetch } from './http/fetch.js';
import type { ExecServerClient } from './low-level/exec-server-client.js';
import { checkDefaults, type MachineDefaults, withDefaults } from './machine-defaults.js';
import { type AttachOptions, attachProcess } from './process/attach.js';
import { EventFeed, type FeedOptions } from './process/event-feed.js';
import type { ProcessHandle } from './process/process-handle.js';
import type { ProcessResult } from './process/process-result.js';
import { createProcesses, type Processes } from './process/processes.js';
import type { PtyHandle } from './process/pty-handle.js';
import { runProcess } from './process/run.js';
import { createSh, createShell, type Sh, type Shell } from './process/shell.js';
import { spawnProcess, spawnPty } from './process/spawn.js';
import type { PtyOptions, RunOptions, SpawnOptions } from './process/spawn-options.js';
import type { RoutedEvent } from './process-event.js';
import type { SessionClient } from './session-client.js';

/** A machine with an exec-server on it: its processes, its files, its network. */
export class Machine implements AsyncDisposable {
  /** One method for each call of the wire, for those who keep the books themselves. */
  readonly client: ExecServerClient;
  readonly processes: Processes;
  /** Its files, in the shape of `node:fs/promises`. */
  readonly fs: FileSystem;
  /** Makes HTTP requests from there, in the shape of the global `fetch`. */
  readonly fetch: Fetch;
  /**
   * Runs a script in the shell of the server's user: machine.shell`grep -rn ${pattern} src | head -20`. Values become
   * words of their own, whatever they contain; a list becomes several. Quotes around a value are therefore wrong.
   * Options come first: machine.shell({ cwd: '/srv' })`make ${target}`.
   */
  readonly shell: Shell;
  /**
   * Runs a command line in the shell of the server's user: machine.sh('npm test | tail -5', { cwd: '/srv' }), or a template
   * as `shell` does.
   */
  readonly sh: Sh;
  /** What processes are started with unless the call says otherwise. */
  readonly defaults: MachineDefaults;
  /** What file operations go through. */
  protected readonly fileClient: SessionClient;

  constructor(client: ExecServerClient, defaults: MachineDefaults = {}) {
    checkDefaults(defaults);
    this.client = client;
    this.defaults = defaults;
    const { sandbox, cwd } = defaults;
    this.fileClient = sandbox === undefined ? client : confineFiles(client, sandbox, cwd);
    this.processes = createProcesses(client);
    this.fs = createFileSystem(this.fileClient);
    this.fetch = createFetch(client);
    const run = (argv: readonly string[], options: RunOptions) => this.run(argv, options);
    this.shell = createShell(client, run);
    this.sh = createSh(client, run);
  }

  /**
   * The same machine with defaults for what is started on it: machine.with({ cwd: '/srv', sandbox: 'workspace-write' }).
   * They come on top of those that it has; variables and tags are added to them. A sandbox holds for file operations, too.
   * Both share the connection: closing one closes the other.
   */
  with(defaults: MachineDefaults): this {
    checkDefaults(defaults);
    const MachineClass = this.constructor as new (
      client: ExecServerClient,
      defaults: MachineDefaults,
    ) => this;
    return new MachineClass(this.client, withDefaults(this.defaults, defaults));
  }

  /** Id of the session, to resume it by another client; absent until the first connection. */
  get sessionId(): string | undefined {
    return this.client.sessionId;
  }

  /**
   * Runs a program and waits for its end. A code other than 0 is a result like any other unless `check` is set. What it
   * writes is collected within limits, and what it leaves running in the background is not waited for.
   */
  run(argv: readonly string[], options?: RunOptions): Promise<ProcessResult> {
    return runProcess(this.client, argv, withDefaults(this.defaults, options));
  }

  /** Starts a program and returns at once. */
  spawn(argv: readonly string[], options?: SpawnOptions): Promise<ProcessHandle> {
    return spawnProcess(this.client, argv, withDefaults(this.defaults, options));
  }

  /** Starts a program on a terminal. */
  pty(argv: readonly string[], options?: PtyOptions): Promise<PtyHandle> {
    return spawnPty(this.client, argv, withDefaults(this.defaults, options));
  }

  /**
   * Follows a process that was detached from, or started by another client of the same principal. On a terminal the
   * handle is a `PtyHandle`.
   */
  attach(id: string, options?: AttachOptions): Promise<ProcessHandle> {
    return attachProcess(this.client, id, options);
  }

  /**
   * The events of all processes from now on, each with the process that it is about, for those who route them
   * themselves. A reader that is too slow misses output, and is told by `gap` events which.
   */
  events(options?: FeedOptions): AsyncIterableIterator<RoutedEvent> {
    return new EventFeed(this.client, options);
  }

  /** What the server tells about its host. */
  environment(): Promise<EnvironmentInfo> {
    return this.client.environment();
  }

  /** How this client stands with the server. */
  get state(): ConnectionState {
    return this.client.state;
  }

  /**
   * Hears each new state of the connection: `reconnecting` while another one is tried for one that was lost, `connected`
   * when it stands, `closed` when there will be none any more. Returns how to stop.
   */
  on(_event: 'state', listener: StateListener): () => void {
    return this.client.onState(listener);
  }

  /**
   * Ends the connection, and a server that was spawned for it. Processes of the session end with it: at once with `end:
   * true`, or for a server in this process; otherwise after the time for which a server keeps a session that a client may
   * resume, 30 seconds by default. Those with a `keepAliveMs` live on for that long.
   */
  close(options?: CloseOptions): Promise<void> {
    return this.client.close(options);
  }

  [asyncDispose](): Promise<void> {
    return this.close();
  }
}
