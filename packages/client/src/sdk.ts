/** Everything that works the same in Node and in browsers; the two entries add how to connect. */

export type { EnvironmentInfo, TraceContext } from '@exec-server/protocol';
export type { Transport } from '@exec-server/rpc';
export type { NetworkPolicyHandler } from './answer-server-requests.js';
export type { Clock } from './clock.js';
export type { ConnectOptions } from './connect.js';
export type { CloseOptions, ConnectionState, StateListener } from './connection-state.js';
export type { DialOptions, TlsOptions, TokenSource } from './dial/dial-options.js';
export type { Dialer } from './dial/dialer.js';
export type { AcceptingServer, ConnectTarget, StdioTarget } from './dial/target.js';
export {
  CapabilityMissingError,
  ConnectionLostError,
  type ErrorName,
  ExecServerError,
  type ExecServerErrorOptions,
  LaggedError,
  RejectedError,
  UnexpectedSessionError,
} from './errors.js';
export { Dirent, type WalkEntry, type WalkOptions } from './fs/directory.js';
export type { FileData } from './fs/file-data.js';
export type {
  CpOptions,
  FileCallOptions,
  FileSystem,
  MkdirOptions,
  ReaddirOptions,
  RmOptions,
} from './fs/file-system.js';
export { FileSystemError } from './fs/file-system-error.js';
export type { ReadFileOptions } from './fs/read-file.js';
export type { ReadStreamOptions } from './fs/read-stream.js';
export type { RemotePath } from './fs/remote-path.js';
export { type FileType, Stats } from './fs/stats.js';
export type { FileChange, FileWatch, WatchOptions } from './fs/watch.js';
export type { WriteFileOptions, WriteStreamOptions } from './fs/write-file.js';
export type { Fetch, FetchOptions, RequestLike } from './http/fetch.js';
export type { FetchBody } from './http/request-body.js';
export type { KeepAliveOptions } from './keep-alive.js';
export type { ExecServerClientOptions, ReconnectOptions } from './low-level/client-options.js';
export {
  ExecServerClient,
  type HttpRequest,
  type HttpResponseStream,
} from './low-level/exec-server-client.js';
export { Machine } from './machine.js';
export type { MachineDefaults } from './machine-defaults.js';
export type {
  NotificationListener,
  OutputListener,
  ProcessOutput,
  ServerNotification,
} from './notification-hub.js';
export type { AttachOptions } from './process/attach.js';
export { CollectedOutput, type KeptOutput, type TruncationPolicy } from './process/collected-output.js';
export { ExitError, partialResultOf, WaitTimeoutError } from './process/errors.js';
export type { FeedOptions } from './process/event-feed.js';
export type { Expected, ExpectOptions } from './process/expectation.js';
export type { ListedProcess, ListOptions } from './process/list-processes.js';
export type { Outcome } from './process/outcome.js';
export { OutputTruncatedError } from './process/output-truncated-error.js';
export { type OutputName, OutputView, type ReadOptions } from './process/output-view.js';
export { ProcessHandle, type TerminalSize } from './process/process-handle.js';
export type { ProcessInput } from './process/process-input.js';
export type { MissedEvents, ProcessResult, SpillFile } from './process/process-result.js';
export type { ProcessSnapshot, TerminalSnapshot } from './process/process-snapshot.js';
export type { ProcessStdin, StdinOptions } from './process/process-stdin.js';
export type { NamedOptions, Processes, WaitForEndOptions } from './process/processes.js';
export { PtyHandle } from './process/pty-handle.js';
export type { Sh, Shell, ShellTag } from './process/shell.js';
export { quoteWord, type ShellValue } from './process/shell-quote.js';
export type {
  CommonOptions,
  OutputCallbacks,
  OutputOptions,
  PtyOptions,
  RunOptions,
  SpawnOptions,
} from './process/spawn-options.js';
export type { TerminateOptions, TerminateResult } from './process/terminate.js';
export type { WaitOptions } from './process/wait.js';
export type { PortCondition, QuietCondition, TextCondition, WaitForCondition } from './process/wait-for.js';
export type {
  ClosedEvent,
  EventSubject,
  ExitedEvent,
  FailedEvent,
  GapEvent,
  OutputEvent,
  ProcessEvent,
  RoutedEvent,
  StreamName,
} from './process-event.js';
export type { EventsOptions, ProcessSession, SlowReader, WriteOptions } from './process-session.js';
export type { Sandbox, SandboxNetwork, SandboxRules } from './sandbox.js';
export type { RegisterOptions, SessionCallOptions, SessionClient } from './session-client.js';
export { WireClient, type WireClientOptions } from './wire-client.js';
