/** The test at the edge of a limit: where it is, and a part of its title, or of the name of its case. */
export interface LimitTest {
  /** Below `packages`. */
  readonly file: string;
  readonly title: string;
}

const at = (file: string, title: string): LimitTest => ({ file: `${file}.test.ts`, title });
const server = (file: string, title: string): LimitTest => at(`server/test/${file}`, title);

/**
 * The test at the edge of each limit in docs/limits.md. Limits inside the server are named with their file, because
 * several files have one of the same name.
 */
export const LIMIT_TESTS: Readonly<Record<string, LimitTest>> = {
  // Of a server.
  maxConnections: server('connection/refuse-connection', 'the limit of connections is reached with the last'),
  handshakeMs: server('connection/handshake-time', 'lasts until its time is over, and no longer'),
  maxSessions: server('sessions/session-registry', 'is reached with the last that fits'),
  concurrentRequests: server('connection/lanes', 'start in arrival order, no more at once than allowed'),
  pendingRequests: server('connection/lanes', 'with %i of five pending one more is taken'),
  pendingRequestBytes: server('connection/lanes', 'with 50 of 100 bytes pending, %i more are taken'),
  outboundHighWaterBytes: at('rpc/test/outbound-gauge', '%i queued bytes: writable is %s'),
  outboundLowWaterBytes: at('rpc/test/outbound-gauge', 'full, then %i queued bytes: writable is %s'),
  outboundTotalBytes: server('connection/outbound-total', 'of queues of %o bytes %o go'),
  inboundTotalBytes: server('connection/inbound-total', 'of connections that hold %o bytes %o go'),
  attachedProcesses: server('dialects/exec/process-attach', 'with a limit of two, attachment %i is allowed'),
  viewerQueueBytes: server('dialects/exec/process-attach', 'with %i bytes to its queue is sent %i of five'),
  maxProcesses: server('process/start-limits', 'is reached with the last process that fits, whosever it is'),
  maxProcessesPerConnection: server('process/start-limits', 'is its own'),
  signOfLifeMs: server('sessions/takeover', 'keeps it for %i of 1,000 ms, or not'),
  detachedSessionMs: server('sessions/session-registry', 'is kept for 30 s, then ends with its processes'),
  retainedOutputBytes: server('output/retained-log', 'keeps the newest 100 bytes (%i written)'),
  retainedOutputChunks: server('output/retained-log', 'keeps the newest three chunks (%i written)'),
  closedProcessRetentionMs: server('process/closed-processes', 'are forgotten when their time is up'),
  closedProcessOutputBytes: server('process/closed-processes', 'with 40 of 100 bytes kept, %i more leave %o'),
  maxClosedProcesses: server('process/closed-processes', 'of %i the newest three are kept'),
  stdinQueueBytes: server('stdin/stdin-queue', 'a queue of ten bytes that would hold %i'),
  rememberedWriteIds: server(
    'stdin/write-id-memory',
    'of the newest three ids still knows the first after %i',
  ),
  httpRequests: server('http/active-requests', 'bound how many run'),
  httpBufferedBytes: server('http/active-requests', 'bound what is buffered by all together'),
  spillBytes: server('output/spill-file', 'the limit'),
  fileWatches: server('dialects/exec/fs-watch', 'the 65th is refused until one is gone'),
  watchedDirectories: server('dialects/exec/fs-watch', 'a tree has at most as many directories'),
  pendingFileChanges: server('dialects/exec/fs-watch', 'beyond what may wait for the client is an overflow'),
  shutdownGraceMs: server(
    'terminate/on-shutdown',
    'waits for a child that does not go until the grace is over',
  ),

  // Of a WebSocket listener.
  'http.headerTimeoutMs': server('listen/websocket', 'ends a connection that sends no request'),
  'http.requestTimeoutMs': server('listen/websocket', 'ends a connection whose request has no end'),
  'http.idleTimeoutMs': server('listen/websocket', 'ends a connection that has nothing more to ask'),
  'http.maxHeaderBytes': server('listen/websocket', 'of a request head of %d bytes answers %d'),
  'http.maxPendingConnections': server('listen/websocket', 'ends the oldest connection that is no WebSocket'),
  'keepAlive.pingIntervalMs': server('listen/keep-alive', 'pings every 30 seconds'),
  'keepAlive.maxUnansweredPings': server('listen/keep-alive', 'drops a peer that missed two'),
  'keepAlive.blockedReaderMs': server('listen/keep-alive', 'is not pinged, and lives for ten minutes'),

  // Of the protocol.
  MAX_MESSAGE_BYTES: server('listen/websocket', 'a message of %d bytes is taken: %s'),
  MAX_HANDSHAKE_MESSAGE_BYTES: server(
    'connection/handshake-limit',
    'a message of %i bytes before initialize is taken: %s',
  ),
  MAX_FRAME_BYTES: at('rpc/test/node/websocket-transport', '%i bytes with frames of at most 16 go out as %j'),
  MAX_JSON_VALUES: at('protocol/test/json-scan', '%i values'),
  MAX_JSON_DEPTH: at('protocol/test/json-scan', 'depth %i'),
  MAX_TEXT_BYTES: at('rpc/test/node/long-message', 'is a string of %i bytes'),
  MAX_OBJECT_MEMBERS: at('rpc/test/node/long-message', 'is an object of %i members'),
  MAX_LIST_ELEMENTS: at('rpc/test/node/long-message', 'is a list of %i elements'),
  MAX_OUTPUT_CHUNK_BYTES: server('native/launcher', 'hands out chunks of at most 64 KiB'),
  MAX_FRAMED_ID_BYTES: at('protocol/test/output-frame', 'ids are counted in bytes of UTF-8'),
  MAX_FILE_HANDLE_ID_BYTES: server('dialects/exec/fs-handles', 'ids have at most 32 bytes'),
  MAX_OPEN_FILE_HANDLES: server('dialects/exec/fs-handles', '128 handles may be open, a close makes room'),
  MAX_FILE_BLOCK_BYTES: server('dialects/exec/fs-handles', 'takes block lengths of 1 to the limit'),
  MAX_READ_FILE_BYTES: server('fs/read-file', 'one byte more is refused'),
  MAX_DIRECTORY_ENTRIES: server('dialects/exec/fs-read-directory', 'lists up to 50,000 entries'),
  MAX_WALK_DEPTH: server('dialects/exec/fs-walk', '%j: %s, before the path is looked at'),
  MAX_WALK_DIRECTORIES: server('dialects/exec/fs-walk', '%j: %s, before the path is looked at'),
  MAX_WALK_ENTRIES: server('dialects/exec/fs-walk', '%j: %s, before the path is looked at'),
  MAX_WALK_RESPONSE_BYTES: server('fs/walk-outcome', 'an item of 10 characters with %i bytes left'),
  WALK_ITEM_OVERHEAD_BYTES: server('fs/walk-outcome', 'an item of 10 characters with %i bytes left'),
  MAX_WATCHED_PATHS: server('dialects/exec/fs-watch-missing', '65 paths'),
  MAX_PATH_URI_LENGTH: at('protocol/test/path-uri', 'a URI of %i characters more than the longest'),
  MAX_WATCH_ID_BYTES: server('dialects/exec/fs-watch', 'ids have at most 64 bytes and are unique'),
  MAX_CHANGES_PER_NOTIFICATION: server('dialects/exec/fs-watch', 'goes out in notifications of bounded size'),
  MAX_HTTP_DELTA_BYTES: server('http/read-body', 'cuts a chunk of %d bytes into %j'),
  MAX_HTTP_REDIRECTS: server('http/http-client', '%d are followed'),
  MAX_CAPABILITY_ROOTS: server('dialects/exec/capabilities', 'takes %i roots'),
  MAX_SNAPSHOT_SCOPE_BYTES: server('shell-snapshot/snapshot-request', 'with a scope of %i bytes'),
  MAX_CALLBACK_PROCESS_ID_BYTES: server('process/network', 'has an id that questions can be asked about'),
  MAX_POLICY_HOST_BYTES: server('network-proxy/ask-client', 'about %j are asked: %s'),
  MAX_POLICY_REASON_BYTES: server('network-proxy/ask-client', 'a reason of the limit'),

  // Inside the server.
  'process/forgotten-ids.ts MAX_FORGOTTEN_IDS': server(
    'process/forgotten-ids',
    'the first one is remembered with %i behind it: %s',
  ),
  'capabilities/bundle.ts MAX_FILE_BYTES': server('capabilities/discover-root', 'of %i bytes'),
  'capabilities/bundle.ts MAX_BUNDLE_BYTES': server('capabilities/discover-root', 'share a budget of bytes'),
  'capabilities/plugin-cache.ts MAX_PLUGINS': server('capabilities/plugin-cache', 'lists so many plugins'),
  'capabilities/plugin-cache.ts MAX_INSTALL_NOTE_BYTES': server(
    'capabilities/plugin-cache',
    'reads a note of %i bytes',
  ),
  'capabilities/plugin-cache.ts MAX_REMOTE_ID_BYTES': server(
    'capabilities/plugin-cache',
    'takes an id of %i bytes',
  ),
  'capabilities/skill-frontmatter.ts MAX_NAME_LENGTH': server(
    'capabilities/skill-frontmatter',
    'describes nothing',
  ),
  'capabilities/yaml-fields.ts MAX_YAML_CHARACTERS': server(
    'capabilities/yaml-fields',
    'YAML of %i characters is read',
  ),
  'capabilities/skill-metadata.ts MAX_KIND_LENGTH': server(
    'capabilities/skill-metadata',
    'leaves out tools whose %s',
  ),
  'capabilities/skill-metadata.ts MAX_TEXT_LENGTH': server(
    'capabilities/skill-metadata',
    'leaves out tools whose %s',
  ),
  'dialects/app/fs-watch.ts MAX_APP_WATCH_ID_BYTES': server('dialects/app/fs-watch', 'of the id'),
  'dialects/app/run-output.ts MAX_COLLECTED_BYTES': server(
    'dialects/app/command-exec',
    'that wrote more than a response can carry is an error',
  ),
  'dialects/exec/confined/file-helper.ts MAX_CALL_BYTES': server(
    'sandbox/files/frames',
    'a body of %i bytes where 100 are allowed',
  ),
  'dialects/exec/fit-capabilities.ts MAX_CAPABILITIES': server(
    'dialects/exec/fit-capabilities',
    'of %i skills',
  ),
  'dialects/exec/fit-capabilities.ts MAX_CAPABILITIES_BYTES': server(
    'dialects/exec/fit-capabilities',
    'stays within its size',
  ),
  'dialects/exec/fit-capabilities.ts MAX_WARNINGS': server(
    'dialects/exec/fit-capabilities',
    'with %i warnings',
  ),
  'dialects/exec/process-snapshot.ts MAX_SCREEN_CELLS': server(
    'dialects/exec/process-snapshot',
    'of a terminal with 1,000 columns and %i rows',
  ),
  'dialects/exec/start-once.ts MAX_START_KEY_CHARACTERS': server(
    'dialects/exec/start-once',
    'a key of %i characters is taken',
  ),
  'dialects/exec/start-request.ts MAX_TAG_CHARACTERS': server(
    'dialects/exec/process-list',
    'tags of %i characters are taken',
  ),
  'environment/config/git-root.ts MAX_LINK_FILE_BYTES': server(
    'environment/config/git-root',
    'a worktree whose link has %i bytes',
  ),
  'environment/config/toml-file.ts MAX_CONFIG_FILE_BYTES': server(
    'environment/config/read-config',
    'a file of %i bytes is read',
  ),
  'fs/replace-file.ts MAX_LINKS': server(
    'fs/replace-file',
    'goes through %i links as far as the system does',
  ),
  'fs/watch/path-chain.ts MAX_LINKS': server('dialects/exec/fs-watch', 'a path through %i links'),
  'http/exchange.ts MAX_RESPONSE_HEAD_BYTES': server('http/exchange', 'has a head of limited size'),
  'native/block-pool.ts MAX_SPARE_BLOCKS': server(
    'native/block-pool',
    'of %i blocks that come back it keeps %i',
  ),
  'native/cached-lookup.ts MAX_PATH_BYTES': server('native/cached-lookup', 'a path of %i bytes is asked for'),
  'native/descriptor-source.ts MAX_CHATTER_BYTES': server('native/descriptor-source', '%i bytes in one rest'),
  'native/cgroup/own-cgroup.ts MAX_MOUNT_TABLE_BYTES': server(
    'native/cgroup/own-cgroup',
    'whose line of cgroups ends %i bytes behind the limit',
  ),
  'native/cgroup/spare-groups.ts MAX_SPARE_GROUPS': server('native/cgroup/spare-groups', 'at most'),
  'native/constants.ts MAX_CHUNK_BYTES': server('native/launcher', 'hands out chunks of at most 64 KiB'),
  'native/fallback/check-plan.ts MAX_ARGUMENT_BYTES': server('native/launcher', 'takes the longest argument'),
  'native/guardian.ts MAX_BACKLOG_BYTES': server('native/guardian', 'replaces a shell that does not read'),
  'native/pipe-capacity.ts MAX_LARGE_PIPES': server(
    'native/pipe-capacity',
    'enlarges so many pipes at the same time',
  ),
  'native/pty.ts MAX_TERMINAL_SIZE': server('native/pty', 'refuses a size that a terminal cannot have'),
  'network-proxy/ask-client.ts MAX_OPEN_QUESTIONS': server(
    'network-proxy/ask-client',
    'beyond the limit are denied',
  ),
  'network-proxy/http/authority.ts MAX_HOST_NAME_LENGTH': server(
    'network-proxy/http/authority',
    'a name of %i characters: %s',
  ),
  'network-proxy/http/http-proxy.ts MAX_HEAD_BYTES': server(
    'network-proxy/http/http-proxy',
    'with a head of some %i bytes',
  ),
  'network-proxy/http/http-proxy.ts MAX_REQUESTS': server(
    'network-proxy/http/http-proxy',
    'beyond the limit are answered with 503',
  ),
  'network-proxy/name-resolver.ts MAX_LOOKUPS': server(
    'network-proxy/name-resolver',
    'looks up a few at a time, lets some wait',
  ),
  'network-proxy/name-resolver.ts MAX_WAITING_LOOKUPS': server(
    'network-proxy/name-resolver',
    'looks up a few at a time, lets some wait',
  ),
  'network-proxy/proxy-limits.ts MAX_CONNECTIONS': server(
    'network-proxy/proxy-limits',
    'one connection too many',
  ),
  'network-proxy/rules/domain-pattern.ts MAX_PATTERN_CHARACTERS': server(
    'network-proxy/rules/domain-pattern',
    'a pattern of %i characters more than the longest',
  ),
  'network-proxy/socks/udp-association.ts MAX_DESTINATIONS': server(
    'network-proxy/socks/udp-relay',
    'places beyond so many are not even asked about',
  ),
  'network-proxy/socks/udp-association.ts MAX_WAITING_DATAGRAMS': server(
    'network-proxy/socks/udp-relay',
    'of %i datagrams that wait for a decision',
  ),
  'network-proxy/socks/udp-relay.ts MAX_ASSOCIATIONS': server(
    'network-proxy/socks/udp-relay',
    'end with their connection',
  ),
  'output/exit-after-output.ts MAX_UNREAD_BYTES': server(
    'output/exit-after-output',
    'cannot delay the end by what others write',
  ),
  'output/open-spill-file.ts MAX_NAME_CHARACTERS': server(
    'output/open-spill-file',
    'names the file for people',
  ),
  'process/network.ts MAX_BRIDGED_PORTS': server('process/network', 'may have %i ports: %s'),
  'sandbox/bubblewrap/bubblewrap-backend.ts MAX_ARGUMENTS': server(
    'process/many-rules',
    'a sandbox that takes %i arguments can be made: %s',
  ),
  'sandbox/bubblewrap/plan-mounts.ts MAX_PLANNED_RULES': server(
    'process/many-rules',
    'a sandbox of %i rules can be made: %s',
  ),
  'sandbox/policy/resolve-policy.ts MAX_RULES': server(
    'sandbox/policy/resolve-policy',
    'of %i rules takes all: %s',
  ),
  'sandbox/bubblewrap/bubblewrap-backend.ts MAX_HIDDEN_FILES': server(
    'process/confinement',
    '%i files may be denied one by one',
  ),
  'sandbox/bubblewrap/locate-path.ts MAX_LINKS': server('sandbox/bubblewrap/locate-path', 'through %i links'),
  'sandbox/denial/judge-denial.ts MAX_SEARCHED_BYTES': server(
    'process/confinement',
    'words that %i bytes of output follow are found: %s',
  ),
  'sandbox/denial/judge-denial.ts MAX_COMPLAINTS': server(
    'sandbox/denial/judge-denial',
    'a complaint is looked at that %i others follow: %s',
  ),
  'sandbox/denial/judge-denial.ts MAX_PATH_BYTES': server(
    'sandbox/denial/judge-denial',
    'a path of %i bytes more than the longest',
  ),
  'sandbox/denial/judge-denial.ts MAX_JUDGING_MS': server(
    'sandbox/denial/judge-denial',
    'after %i ms without an answer',
  ),
  'sandbox/files/file-helper.ts MAX_CALLS_IN_FLIGHT': server(
    'sandbox/files/file-helper',
    'works on as many calls at once',
  ),
  'sandbox/files/file-helper.ts MAX_ANSWER_BYTES': server(
    'sandbox/files/frames',
    'a body of %i bytes where 100 are allowed',
  ),
  'sandbox/files/file-sandboxes.ts MAX_HELPERS': server(
    'sandbox/files/file-sandboxes',
    'leave something to others',
  ),
  'sandbox/denial/judge-denial.ts MAX_NAME_BYTES': server(
    'sandbox/denial/judge-denial',
    'a name of %i bytes may be why',
  ),
  'sandbox/policy/glob.ts MAX_PATTERN_CHARACTERS': server(
    'sandbox/policy/resolve-policy',
    'takes a pattern of %i characters with its directory',
  ),
  'sandbox/policy/find-denied-paths.ts MAX_PATTERNS_CHARACTERS': server(
    'sandbox/policy/find-denied-paths',
    'takes patterns of %i characters more than the limit for all together',
  ),
  'sandbox/policy/find-denied-paths.ts MAX_SCAN_MS': server(
    'sandbox/policy/find-denied-paths',
    'has time until %i ms are over',
  ),
  'sandbox/policy/find-denied-paths.ts MAX_SCANNED_ENTRIES': server(
    'sandbox/policy/find-denied-paths',
    'refuses to look at more than it can',
  ),
  'sandbox/policy/find-denied-paths.ts MAX_DENIED_PATHS': server(
    'sandbox/policy/find-denied-paths',
    'refuses to hide more than it can',
  ),
  'shell-snapshot/run-capture.ts MAX_CAPTURE_OUTPUT_BYTES': server(
    'shell-snapshot/run-capture',
    'a login that prints %i',
  ),
  'shell-snapshot/shell-snapshots.ts MAX_SNAPSHOTS_PER_SESSION': server(
    'shell-snapshot/shell-snapshots',
    'of %i scopes',
  ),
  'shell-snapshot/shell-snapshots.ts MAX_CAPTURE_ATTEMPTS': server(
    'shell-snapshot/shell-snapshots',
    'is tried again after a while, and not for ever',
  ),
  'shell-snapshot/snapshot.ts MAX_SNAPSHOT_BYTES': server(
    'shell-snapshot/snapshot',
    'of %i bytes beyond the limit',
  ),
  'snapshot/screens.ts MAX_KEPT_SCREEN_BYTES': server('snapshot/screens', 'the oldest are dropped'),
  'snapshot/screens.ts MAX_PENDING_SCREENS': server('snapshot/screens', 'of %i screens at once'),
  'stdin/write-id-memory.ts MAX_KEPT_CHARACTERS': server(
    'stdin/write-id-memory',
    'tells ids of %i characters apart',
  ),
  'telemetry/create-logger.ts MAX_WAITING_LOG_CHARACTERS': server(
    'telemetry/create-logger',
    'lets %d characters wait: %s',
  ),
  'telemetry/tracing/caller-trace.ts MAX_TRACE_STATE_CHARACTERS': server(
    'telemetry/tracing/caller-trace',
    'a state that is too long',
  ),
};

/**
 * Numbers in docs/limits.md at which nothing is refused, cut or lost: how long something is tried before it is left as it
 * is, how large the slices of some work are, how much of a complaint is repeated. They have no edge to be tested at.
 */
export const WITHOUT_EDGE: ReadonlySet<string> = new Set([
  'native/cgroup/cgroup-files.ts MAX_EVENTS_BYTES',
  'native/cgroup/kill-cgroups.ts MAX_LOOKS',
  'native/descriptor-target.ts MAX_TURN_BYTES',
  'native/guardian-script.ts MAX_CATCHES',
  'native/guardian-script.ts MAX_CGROUP_LOOKS',
  'native/guardian-script.ts MAX_NUMBERS',
  'native/leftover-sweep.ts MAX_INTERVAL_MS',
  'native/new-processes.ts MAX_LINE_BYTES',
  'native/new-processes.ts MAX_NUMBERS',
  'native/process-tree.ts MAX_STAT_BYTES',
  'native/subreaper.ts MAX_GENERATIONS',
  'sandbox/launch-confined.ts MAX_COMPLAINT_BYTES',
  'sandbox/bubblewrap/mount-targets.ts MAX_ATTEMPTS',
  'sandbox/files/file-helper.ts MAX_COMPLAINT_BYTES',
  'sandbox/files/file-sandboxes.ts MAX_ATTEMPTS',
  'terminate/kill-trees.ts MAX_LOOKS',
  'terminate/unfinished-ends.ts MAX_RETRY_MS',
  'terminate/until-gone.ts MAX_LOOK_MS',
]);
