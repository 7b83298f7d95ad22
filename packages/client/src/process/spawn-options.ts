import type { Sandbox } from '../sandbox.js';
import type { ProcessInput } from './process-input.js';

/** What is collected of each stream of a process while it runs. */
export interface OutputOptions {
  /** Bytes kept of the beginning of each stream. @default 1 MiB */
  readonly headBytes?: number;
  /** Bytes kept of the end of each stream. @default 1 MiB */
  readonly tailBytes?: number;
  /**
   * What whoever asks for all of a longer output gets. `error`: `bytes()`, `text()`, `trimmed()` and `lines()` throw
   * `OutputTruncatedError`. `middle`: they return its beginning and its end, the texts with a line between them that
   * says how many bytes are missing.
   *
   * @default 'error'
   */
  readonly truncate?: 'error' | 'middle';
  /** Have the server write the whole output to a file on its host too; its path is in the result. @default false */
  readonly spill?: boolean;
}

/** What every way of starting a process takes. */
export interface CommonOptions {
  /**
   * Working directory: an absolute path of the server's host, or a `file:` URL.
   *
   * @default the directory that the server was started in, or else its user's home
   */
  readonly cwd?: string | URL;
  /** Variables to set; they win over inherited ones. Those that are undefined are left alone. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Which of the server's own variables the process gets: those that programs need to work (`PATH`, `HOME`, `LANG` and
   * the like), all, or none. Names that contain KEY, SECRET or TOKEN are never inherited; set them by `env`.
   *
   * @default 'core'
   */
  readonly inheritEnv?: 'core' | 'all' | 'none';
  /** Name of the process, unique in its session. @default a random one */
  readonly id?: string;
  /** Words to find the process by in `processes.list`. */
  readonly tags?: Readonly<Record<string, string>>;
  /** How long it may outlive its session, in milliseconds. @default 0, it ends with it */
  readonly keepAliveMs?: number;
  /**
   * Starts it once: where a process of the same principal has this key, whichever session started it, the handle is one of
   * that process, and nothing is started. The key is free again when the server has forgotten the process.
   */
  readonly startKey?: string;
  /** The server ends it, with everything it started, after so many milliseconds. @default never */
  readonly timeoutMs?: number;
  /**
   * What lies between SIGTERM and SIGKILL whenever the process is ended: by its `timeoutMs`, by an abort, by leaving
   * the block of its handle; in milliseconds.
   *
   * @default 5000
   */
  readonly graceMs?: number;
  /** What the program sees as `argv[0]`. @default the first element of argv */
  readonly arg0?: string;
  /**
   * Tell the process the trace context of its start, as `TRACEPARENT` and `TRACESTATE`: that of the server's own span where
   * it makes spans, or else the one that the client's `trace` gave.
   *
   * @default false
   */
  readonly traceEnv?: boolean;
  /** What the process may touch. @default everything that the server's user may */
  readonly sandbox?: Sandbox;
  readonly output?: OutputOptions;
}

/** How to start a process on pipes. */
export interface SpawnOptions extends CommonOptions {
  /** `pipe` leaves stdin open for the handle's `stdin`; with `none` the process finds it empty. @default 'none' */
  readonly stdin?: 'pipe' | 'none';
  /** What the process gets to read; stdin is closed behind it. Not together with `stdin: 'pipe'`. */
  readonly input?: ProcessInput;
  /** Cancels the start. A process that has started is left alone. */
  readonly signal?: AbortSignal;
}

/**
 * Who hears output as it comes, as text. The process waits for one that returns a promise; what one throws ends the
 * process, and `run` rejects with it.
 */
export interface OutputCallbacks {
  readonly onStdout?: (text: string) => unknown;
  readonly onStderr?: (text: string) => unknown;
  /** Both, in the order in which they came. */
  readonly onOutput?: (text: string, stream: 'stdout' | 'stderr') => unknown;
}

/** How to run a command. */
export interface RunOptions extends OutputCallbacks, Omit<SpawnOptions, 'stdin' | 'signal'> {
  /** Reject with `ExitError` unless the command exits with code 0 before its `timeoutMs` is over. @default false */
  readonly check?: boolean;
  /** Terminates the process with everything it started; `run` rejects with the reason once it is gone. */
  readonly signal?: AbortSignal;
}

/** How to start a process on a terminal. */
export interface PtyOptions extends CommonOptions {
  /** Width of the terminal in characters. @default 80 */
  readonly cols?: number;
  /** Height of the terminal in characters. @default 24 */
  readonly rows?: number;
  /** Cancels the start. A process that has started is left alone. */
  readonly signal?: AbortSignal;
}

const COMMON_NAMES: readonly (keyof CommonOptions)[] = [
  'cwd',
  'env',
  'inheritEnv',
  'id',
  'tags',
  'keepAliveMs',
  'startKey',
  'timeoutMs',
  'graceMs',
  'arg0',
  'traceEnv',
  'sandbox',
  'output',
];
export const OUTPUT_OPTION_NAMES: readonly (keyof OutputOptions)[] = [
  'headBytes',
  'tailBytes',
  'truncate',
  'spill',
];
export const TRUNCATIONS = ['error', 'middle'] as const;
/** Names of the options, for callers whose compiler did not check them. */
export const SPAWN_OPTION_NAMES: readonly string[] = [...COMMON_NAMES, 'stdin', 'input', 'signal'];
const CALLBACK_NAMES: readonly (keyof OutputCallbacks)[] = ['onStdout', 'onStderr', 'onOutput'];
export const RUN_OPTION_NAMES: readonly string[] = [
  ...COMMON_NAMES,
  ...CALLBACK_NAMES,
  'input',
  'signal',
  'check',
];
export const PTY_OPTION_NAMES: readonly string[] = [...COMMON_NAMES, 'cols', 'rows', 'signal'];
