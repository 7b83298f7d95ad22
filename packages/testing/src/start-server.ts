import { before } from './deadline.js';
import { type CommandOptions, type Exit, SpawnedCommand } from './spawned-command.js';

export interface RunningServer extends AsyncDisposable {
  /** What the banner said, for example `ws://127.0.0.1:40123`. */
  readonly url: string;
  /** The bound port; 0 for a listener without one. */
  readonly port: number;
  readonly pid: number;
  /** Settles when the server has ended, for whatever reason. */
  readonly exited: Promise<Exit>;
  /** Everything the server wrote to stderr so far. */
  stderr(): string;
  /** SIGTERM, then waits for the end. */
  stop(): Promise<Exit>;
  kill(signal: NodeJS.Signals): void;
}

/** Where a server says its URL. */
export interface ServerBanner {
  readonly stream: 'stdout' | 'stderr';
  /** Its first group is the URL. */
  readonly pattern: RegExp;
}

export interface ServerOptions extends CommandOptions {
  /** Default: the first line of stdout. */
  readonly banner?: ServerBanner;
}

const FIRST_LINE_OF_STDOUT: ServerBanner = { stream: 'stdout', pattern: /^(.*)\n/ };

const DEFAULT_LISTEN = ['--listen', 'ws://127.0.0.1:0'] as const;

/**
 * Starts a real server and waits for its banner. It listens on a free loopback port
 * unless `args` name a listener.
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const args = options.args ?? [];
  const command = new SpawnedCommand({
    ...options,
    args: args.includes('--listen') ? args : [...DEFAULT_LISTEN, ...args],
  });
  const url = await before(readBanner(command, options.banner ?? FIRST_LINE_OF_STDOUT), () => {
    command.kill('SIGKILL');
    return command.failure('printed no banner');
  });
  return {
    url,
    port: Number(new URL(url).port),
    pid: command.pid,
    exited: command.exited,
    stderr: () => command.stderr(),
    stop: () => command.stop(),
    kill: (signal) => command.kill(signal),
    [Symbol.asyncDispose]: async () => {
      await command.stop();
    },
  };
}

async function readBanner(command: SpawnedCommand, { stream, pattern }: ServerBanner): Promise<string> {
  // Read to its end also after the banner, so that later output cannot fill the pipe.
  if (stream !== 'stdout') command.stdout.resume();
  const banner = new Promise<string>((resolve) => {
    let seen = '';
    command[stream === 'stdout' ? 'stdout' : 'stderrStream']
      .setEncoding('utf8')
      .on('data', (text: string) => {
        seen += text;
        const url = pattern.exec(seen)?.[1];
        if (url !== undefined) resolve(url);
      });
  });
  const ended = command.exited.then(({ code, signal }) => {
    throw command.failure(`ended with ${signal ?? code} before its banner`);
  });
  return Promise.race([banner, ended]);
}
