import {
  type CommandOptions,
  type Exit,
  type RunningServer,
  type ServerBanner,
  type StdioServer,
  startServer,
  startStdioServer,
} from '@exec-server/testing';
import type { Stage } from './stage.js';

export interface PlayOptions {
  /** The command under test, before the recorded arguments. Default: the built command of this repository. */
  readonly command?: readonly string[];
  /** Where that command says its URL. Default: as this repository's does. */
  readonly banner?: ServerBanner;
}

/** The one spelling that all recorded servers know. */
const STDIO_ARGS = ['--listen', 'stdio://'] as const;

/** The servers of one scenario. They end with it. */
export class Servers implements AsyncDisposable {
  /** How the command under test is run, but for its arguments. */
  readonly command: CommandOptions;
  readonly #banner: { readonly banner?: ServerBanner };
  /** Those beside the one that is talked to, by their arguments. */
  readonly #others = new Map<string, Promise<RunningServer>>();
  #main: RunningServer | undefined;

  constructor({ env, cwd }: Stage, { command, banner }: PlayOptions) {
    this.command = command === undefined ? { env, cwd } : { command, env, cwd };
    this.#banner = banner === undefined ? {} : { banner };
  }

  /** The server that the recording talks to. */
  get main(): RunningServer {
    if (this.#main === undefined) throw new Error('the recording uses a server before it starts one');
    return this.#main;
  }

  async startMain(args: readonly string[]): Promise<RunningServer> {
    this.#main = await this.#start(args);
    return this.#main;
  }

  /** Another one with these arguments, which is started once. */
  startOther(args: readonly string[]): Promise<RunningServer> {
    const key = args.join(' ');
    const started = this.#others.get(key) ?? this.#start(args);
    this.#others.set(key, started);
    return started;
  }

  startStdio(): StdioServer {
    return startStdioServer({ ...this.command, args: STDIO_ARGS });
  }

  /** Asks the main one to end, if there is one. */
  async stopMain(): Promise<Exit | undefined> {
    return this.#main?.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const other of this.#others.values()) await (await other).stop();
    this.#main?.kill('SIGKILL');
    await this.#main?.exited;
  }

  #start(args: readonly string[]): Promise<RunningServer> {
    return startServer({ ...this.command, ...this.#banner, args });
  }
}
