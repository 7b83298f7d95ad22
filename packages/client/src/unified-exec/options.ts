import type { Clock } from '../clock.js';
import type { EventFeedSource } from '../process/event-feed.js';
import type { Sandbox } from '../sandbox.js';
import type { SessionClient } from '../session-client.js';

/** What commands are run through: the `client` of a machine, or a low-level client. */
export type UnifiedExecClient = SessionClient & Pick<EventFeedSource, 'onProcessEvent'>;

/** How commands are run, whatever the model asks for. */
export interface UnifiedExecOptions {
  /**
   * Directory that `workdir` is relative to: an absolute path of the server's host, or a `file:` URL.
   *
   * @default the directory that the server was started in, or else its user's home
   */
  readonly cwd?: string | URL;
  /** Variables to set. They win over those that make output plain (`TERM=dumb`, `NO_COLOR=1` and the like). */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Which of the server's own variables a command gets. @default 'core' */
  readonly inheritEnv?: 'core' | 'all' | 'none';
  /** What commands may touch. @default everything that the server's user may */
  readonly sandbox?: Sandbox;
  /** Shell of commands that do not name one. @default that of the server's user */
  readonly shell?: string;
  /** Whether commands may ask for a login shell; without a word they then get one. @default true */
  readonly allowLoginShell?: boolean;
  /** Longest wait of a call without input, in milliseconds; at least 5000. @default 300 000 */
  readonly maxPollYieldMs?: number;
  /**
   * The model's own limit on the output of a tool, in bytes. It bounds what calls ask for, and a whole reply to 1.2
   * times as much. @default none
   */
  readonly outputLimitBytes?: number;
  /** Where time comes from, for tests. @default the system's */
  readonly clock?: Clock;
}

export const UNIFIED_EXEC_OPTION_NAMES: readonly (keyof UnifiedExecOptions)[] = [
  'cwd',
  'env',
  'inheritEnv',
  'sandbox',
  'shell',
  'allowLoginShell',
  'maxPollYieldMs',
  'outputLimitBytes',
  'clock',
];

/** How one call is made. */
export interface UnifiedExecCallOptions {
  /** Names the command in events. @default a random one */
  readonly callId?: string;
  /** Gives up waiting; the call rejects with its reason. A command that was started goes on as a session. */
  readonly signal?: AbortSignal;
}
