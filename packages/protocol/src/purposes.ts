import type * as app from './app/index.js';
import type { ErrorCode } from './errors.js';
import type {
  ClientNotificationName,
  MethodName,
  ServerNotificationName,
  ServerRequestName,
} from './methods.js';
import type * as v0 from './v0/index.js';

/** What each method and notification is for. Read by the generator of the protocol reference, not at run time. */
export const PURPOSES: Readonly<
  Record<MethodName | ClientNotificationName | ServerNotificationName | ServerRequestName, string>
> = {
  initialize: 'Opens or resumes a session.',
  'environment/info': 'Describes the host and what the server can do.',
  'environment/status': 'Shows that the server answers.',
  'environmentConfig/read': 'Reads selected keys of the configuration on the host.',
  'process/start': 'Starts a process.',
  'process/startPrepared': 'Starts a process from a command that the client has resolved, exactly as given.',
  'process/read': 'Reads retained output, waiting for more if asked to.',
  'process/write': 'Queues bytes for stdin.',
  'process/signal': 'Sends a signal to the process group; to a process that is not running it does nothing.',
  'process/terminate': 'Kills the process group.',
  'process/closeStdin':
    "Closes stdin behind what was written; on a terminal it sends the terminal's end-of-file character.",
  'process/hold':
    'Holds the output of a process back, so that it waits for its reader, or lets it go on. Only its own process waits, not the connection.',
  'process/remove': 'Forgets a process that has ended, before its time.',
  'session/end':
    'Has the session end with this connection: it cannot be resumed, and its processes end at once, except those that are kept alive.',
  'process/resize': 'Sets the size of a terminal.',
  'process/wait': 'Waits for the end of a process and tells how it ended.',
  'process/snapshot': 'Tells the beginning and the newest output of a process, and the screen of a terminal.',
  'process/attach': 'Tells the events of a process from here on to this connection too.',
  'process/detach': 'Ends that.',
  'process/started': 'A process was started; comes before its first event, to clients that asked for it.',
  'process/failed': 'A process was not started; to clients that asked for it.',
  'process/lagged': 'Events of an attached process were dropped before they could be told.',
  'process/list': 'Lists processes that the caller may see.',
  'net/waitForPort': 'Waits on the host until something listens on a TCP port.',
  'fs/readFile': 'Reads a regular file of at most 512 MiB.',
  'fs/writeFile': 'Creates a file or replaces its content.',
  'fs/open': 'Opens a file; the handle belongs to the connection.',
  'fs/readBlock': 'Reads part of an open file.',
  'fs/writeBlock': 'Writes part of an open file.',
  'fs/close': 'Closes a handle; an unknown one is fine.',
  'fs/createDirectory': 'Creates a directory.',
  'fs/getMetadata': 'Describes what is at a path.',
  'fs/canonicalize': 'Resolves all symbolic links of a path.',
  'fs/readDirectory': 'Lists a directory of at most 50000 entries.',
  'fs/walk': 'Lists a tree within limits.',
  'fs/remove': 'Removes a file or a tree.',
  'fs/copy': 'Copies a file or a tree.',
  'fs/rename': 'Gives a file or a directory another path, in one step. Capability `fsRename`.',
  'fs/setMode': 'Sets permission bits. Capability `fsSetMode`.',
  'fs/readLink': 'Tells what a symbolic link says. Capability `fsLinks`.',
  'fs/symlink': 'Makes a symbolic link. Capability `fsLinks`.',
  'fs/watchMissing': 'Waits once for one of several paths to appear; one watch per connection.',
  'fs/watch': 'Watches a file or a directory until told otherwise; answered once everything is watched.',
  'fs/unwatch': 'Ends a watch; an unknown one is fine. No change is reported after the answer.',
  'http/request': 'Makes an HTTP request from the host.',
  'http/cancel': 'Ends an HTTP request in whatever state it is; its body ends with an error.',
  'capabilityRoots/discoverV1': 'Finds plugins and skills below given directories.',
  'capabilities/discoverV2': 'Finds the plugins and skills installed on the host.',
  initialized: 'Ends the handshake; its params are ignored.',
  'process/output': 'A process wrote something.',
  'process/exited': 'The program ended; output may still follow.',
  'process/closed': 'The program ended and all output was sent; the last event of a process.',
  'http/request/bodyDelta': 'The next piece of a streamed response body.',
  'fs/changed': 'Something happened at or below a watched path.',
  'fs/missingChanged': 'A watched path appeared or changed; the watch is over.',
  'network/policyDecision': 'The proxy of a process decided about a connection. Best effort.',
  'client/status': 'Asks for a sign of life, where there are no ping frames; any answer is one.',
  'network/policyRequest': 'Asks whether a process may connect to a host.',
};

/** The same of the oldest generation. */
export const V0_PURPOSES: Readonly<Record<v0.MethodName | v0.ServerNotificationName, string>> = {
  'command/exec': 'Starts a process, which ends with the connection at the latest.',
  'command/exec/write': 'Queues bytes for the terminal of a process.',
  'command/exec/terminate': 'Kills a process and everything it started.',
  'command/exec/outputDelta': 'A process has written something.',
  'command/exec/exited': 'A process has ended; nothing follows, and its id is free.',
};

/** The same of the app-server's dialect. */
export const APP_PURPOSES: Readonly<Record<app.MethodName | app.ServerNotificationName, string>> = {
  initialize: 'Begins the conversation. `initialized` may follow, but need not.',
  'command/exec': 'Runs a command and answers when it has ended.',
  'command/exec/write': 'Queues bytes for the stdin of a command, ends its input, or both.',
  'command/exec/resize': 'Sets the size of the terminal of a command.',
  'command/exec/terminate': 'Kills a command and everything it started.',
  'command/exec/outputDelta': 'A command has written something.',
  'process/spawn': 'Starts a process and answers when it runs.',
  'process/writeStdin': 'Queues bytes for the stdin of a process, ends its input, or both.',
  'process/resizePty': 'Sets the size of the terminal of a process.',
  'process/kill': 'Kills a process and everything it started.',
  'process/outputDelta': 'A process has written something.',
  'process/exited': 'A process has ended; nothing follows, and its handle is free.',
  'fs/readFile': 'Reads a whole file.',
  'fs/writeFile': 'Replaces the content of a file, or makes it.',
  'fs/createDirectory': 'Makes a directory.',
  'fs/getMetadata': 'Tells what is at a path.',
  'fs/readDirectory': 'Lists a directory.',
  'fs/remove': 'Removes a file, a link or a tree.',
  'fs/copy': 'Copies a file, a link or a tree.',
  'fs/watch': 'Tells of changes at a path from here on.',
  'fs/unwatch': 'Ends a watch.',
  'fs/changed': 'Something happened at watched paths.',
  'config/read': "Tells the server's settings and where each comes from.",
};

/** What each error code says. */
export const ERROR_MEANINGS: Readonly<Record<keyof typeof ErrorCode, string>> = {
  invalidRequest: 'The message is malformed, or the request is refused in the present state.',
  methodNotFound: 'The method does not exist.',
  invalidParams: 'The parameters cannot be decoded or make no sense.',
  internalError: 'The operating system or the server failed.',
  notFound: 'A file or a file handle does not exist.',
  sessionAttached: 'The session to resume is attached to another connection.',
  overloaded: 'A limit on work in flight is reached; the request was not started and may be sent again.',
  transportClosed: 'Never sent: what a client reports for calls whose transport ended before the answer.',
};
