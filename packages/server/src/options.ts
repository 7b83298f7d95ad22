import * as z from 'zod/mini';
import { BACKEND_CHOICES } from './sandbox/backend.js';

const boolean = z.boolean();
const positiveInteger = z.number().check(z.int(), z.positive());
const milliseconds = z.number().check(z.int(), z.nonnegative());

/** Every limit of a server with its unit and default, and what it allows. The one place where they are defined. */
export const serverLimitsSchema = z.strictObject({
  /** Whether a client may name a program and leave it to the server to find it and to make its environment. */
  allowDirectExec: z._default(boolean, true),
  /** Whether a client may have a command run that it has resolved itself. Both ways give the same power. */
  allowPreparedExec: z._default(boolean, true),
  /** Whether each process gets a cgroup of its own, where the system lets this one make them. */
  cgroups: z._default(boolean, true),
  /** What confines programs whose request says so; `auto` is the first that works and can keep what is asked. */
  sandboxBackend: z._default(z.enum(BACKEND_CHOICES), 'auto'),
  /** Whether `fs/*` and `cwd` take native absolute paths beside `file:` URIs, as clients of an older generation send. */
  acceptNativePaths: z._default(boolean, false),
  /** Connections that are open at once; one more is refused. */
  maxConnections: z._default(positiveInteger, 10_000),
  /** How long a connection may go without a successful `initialize`; stdio may for ever. */
  handshakeMs: z._default(positiveInteger, 60_000),
  /** Sessions, with a connection or without; one more ends the longest detached one of the same principal that has no process, or is refused. */
  maxSessions: z._default(positiveInteger, 20_000),
  /** Ordinary requests of one connection that run at once. Those that wait for something do not count. */
  concurrentRequests: z._default(positiveInteger, 64),
  /** Requests of one connection that are queued, run or wait; one more is answered with an error. */
  pendingRequests: z._default(positiveInteger, 4096),
  /** Message bytes held by those requests; one more is answered with an error. */
  pendingRequestBytes: z._default(positiveInteger, 128 * 1024 * 1024),
  /** Bytes queued to a connection at which output stops being read. */
  outboundHighWaterBytes: z._default(positiveInteger, 1024 * 1024),
  /** Bytes queued to a connection at which output is read again. */
  outboundLowWaterBytes: z._default(positiveInteger, 256 * 1024),
  /** Bytes queued to all connections together; beyond it those with most of them are dropped, and may come back. */
  outboundTotalBytes: z._default(positiveInteger, 2 * 1024 * 1024 * 1024),
  /**
   * Bytes held for what all connections have sent: messages that are not whole yet, and requests that are pending; beyond
   * it those that hold most of them are ended, and may come back.
   */
  inboundTotalBytes: z._default(positiveInteger, 1024 * 1024 * 1024),
  /** Processes of other sessions that one connection may be attached to. */
  attachedProcesses: z._default(positiveInteger, 1024),
  /** Bytes queued to a connection at which what it only views waits in the log. */
  viewerQueueBytes: z._default(positiveInteger, 32 * 1024 * 1024),
  /** Processes that run at once, whosever they are; one more is refused. */
  maxProcesses: z._default(positiveInteger, 10_000),
  /** Processes of one connection's session that run at once; one more is refused. */
  maxProcessesPerConnection: z._default(positiveInteger, 1024),
  /** How long the connection that holds a session may give no sign of life when another one wants to resume it. */
  signOfLifeMs: z._default(positiveInteger, 1_000),
  /** How long a session without a connection is kept. */
  detachedSessionMs: z._default(milliseconds, 30_000),
  /** Newest output kept per process; a sixteenth of it, and 16 KiB of each stream, at most is for how its streams began. */
  retainedOutputBytes: z._default(positiveInteger, 1024 * 1024),
  /** Newest chunks kept per process. */
  retainedOutputChunks: z._default(positiveInteger, 50_000),
  /** How long a closed process stays readable and its id taken; with a longer `keepAliveMs` for that long. */
  closedProcessRetentionMs: z._default(milliseconds, 30_000),
  /** Output kept for closed processes in all; beyond it the oldest go first. Outcomes stay. */
  closedProcessOutputBytes: z._default(positiveInteger, 256 * 1024 * 1024),
  /** Closed processes kept in all; beyond it the oldest of them are forgotten before their time. */
  maxClosedProcesses: z._default(positiveInteger, 10_000),
  /** Bytes queued for a child that does not read its stdin; a write beyond them waits. */
  stdinQueueBytes: z._default(positiveInteger, 1024 * 1024),
  /** Write ids remembered per process against repeats. */
  rememberedWriteIds: z._default(positiveInteger, 4096),
  /** HTTP requests of one connection that run at once, streaming bodies included; one more is refused. */
  httpRequests: z._default(positiveInteger, 1024),
  /** Bytes of HTTP response bodies that one connection may have collected at once; the body beyond is refused. */
  httpBufferedBytes: z._default(positiveInteger, 256 * 1024 * 1024),
  /** Where the whole output of processes that ask for it goes; `exec-server-spill-<uid>` among the temporary files. */
  spillDirectory: z.optional(z.string().check(z.minLength(1))),
  /** Largest file of that kind. */
  spillBytes: z._default(positiveInteger, 1024 * 1024 * 1024),
  /** Watches of `fs/watch` per connection. */
  fileWatches: z._default(positiveInteger, 64),
  /** Directories that one such watch may cover. */
  watchedDirectories: z._default(positiveInteger, 65_536),
  /** Changed paths of one such watch that wait to be sent; one more makes them a single overflow. */
  pendingFileChanges: z._default(positiveInteger, 4096),
  /** How long a closing server waits for its children to be gone. */
  shutdownGraceMs: z._default(milliseconds, 1_500),
});

export type ServerLimits = z.infer<typeof serverLimitsSchema>;
/** Limits as a caller gives them: what is left out takes its default. */
export type ServerLimitOptions = z.input<typeof serverLimitsSchema>;

/** Fills in defaults. Throws a `RangeError` that names the option. */
export function resolveLimits(options: ServerLimitOptions = {}): ServerLimits {
  const parsed = serverLimitsSchema.safeParse(options);
  if (parsed.success) return parsed.data;
  const names = parsed.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys : issue.path.map(String),
  );
  throw new RangeError(`invalid server option: ${names.join(', ')}`);
}
