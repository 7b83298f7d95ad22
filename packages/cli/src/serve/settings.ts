import {
  choice,
  count,
  DURATION_HELP,
  duration,
  positiveCount,
  presence,
  text,
  textList,
  truth,
  type ValueKind,
} from '../option-values.js';

const AUTH_MODES = ['capability-token', 'signed-bearer-token'] as const;
const SANDBOX_BACKENDS = ['auto', 'helper', 'bubblewrap', 'landlock', 'none'] as const;
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const LOG_FORMATS = ['json', 'pretty'] as const;

/** One setting of the server: a flag of the command line, and a key of the configuration file. */
export interface Setting<Value> {
  readonly kind: ValueKind<Value>;
  /** Stands for the value in help; says its unit. */
  readonly placeholder?: string;
  readonly description: string;
  /** What holds when it is not set, as it would be written behind the flag. */
  readonly default?: string;
  /** The same in words, where it depends on something. */
  readonly defaultMeaning?: string;
  /** Whether the value is kept from clients that ask for the settings. */
  readonly confidential?: boolean;
}

function setting<Value>(
  kind: ValueKind<Value>,
  placeholder: string,
  description: string,
  options: Omit<Setting<Value>, 'kind' | 'placeholder' | 'description'> = {},
): Setting<Value> {
  return { kind, placeholder, description, ...options };
}

/** Settings that the server itself knows, by the same names but for those in {@link OPTION_NAMES}. */
export const SERVER_SETTINGS = {
  allowDirectExec: setting(truth, 'BOOL', 'whether process/start may be used, and command/exec', {
    default: 'true',
  }),
  allowPreparedExec: setting(truth, 'BOOL', 'whether process/startPrepared may be used', { default: 'true' }),
  acceptNativePaths: {
    kind: presence,
    description: 'take native paths beside file URIs in fs/* and cwd, for older clients',
    default: 'false',
  } as Setting<boolean>,
  cgroups: setting(truth, 'BOOL', 'whether each process gets a cgroup of its own, where that is possible', {
    default: 'true',
  }),
  sandboxBackend: setting(
    choice(SANDBOX_BACKENDS),
    'NAME',
    'what confines programs; auto is the first that works and can keep what is asked, with none such requests are refused',
    { default: 'auto' },
  ),
  maxConnections: setting(positiveCount, 'COUNT', 'connections that are open at once', { default: '10000' }),
  handshakeMs: setting(
    positiveCount,
    'MS',
    'how long a connection may go without initialize, in milliseconds',
    {
      default: '60000',
    },
  ),
  maxSessions: setting(positiveCount, 'COUNT', 'sessions, with a connection or without', {
    default: '20000',
  }),
  concurrentRequests: setting(positiveCount, 'COUNT', 'ordinary requests of a connection that run at once', {
    default: '64',
  }),
  outboundTotalBytes: setting(
    positiveCount,
    'BYTES',
    'bytes queued to all connections together, beyond which the slowest are dropped',
    { default: '2147483648' },
  ),
  inboundTotalBytes: setting(
    positiveCount,
    'BYTES',
    'bytes held for what all clients have sent, beyond which those with most of them are ended',
    { default: '1073741824' },
  ),
  maxProcesses: setting(positiveCount, 'COUNT', 'processes that run at once', { default: '10000' }),
  maxProcessesPerConnection: setting(
    positiveCount,
    'COUNT',
    "processes of a connection's session that run at once",
    { default: '1024' },
  ),
  retainedOutputBytes: setting(positiveCount, 'BYTES', 'newest output kept per process, in bytes', {
    default: '1048576',
  }),
  detachedSessionMs: setting(count, 'MS', 'how long a session outlives its connection, in milliseconds', {
    default: '30000',
  }),
  closedRetention: setting(
    duration,
    'DURATION',
    `how long the result of a process is kept that has ended, with --keep-alive at least that (${DURATION_HELP})`,
    { default: '30s' },
  ),
  shutdownGraceMs: setting(
    count,
    'MS',
    'how long a server that ends waits for its processes to be gone, in milliseconds',
    { default: '1500' },
  ),
  spillDir: setting(text, 'DIR', 'where processes that ask for it have their whole output written', {
    defaultMeaning: 'exec-server-spill-<uid> in the temporary directory',
  }),
  spillBytes: setting(positiveCount, 'BYTES', 'largest file there, in bytes', { default: '1073741824' }),
} as const;

/** How the server names its settings where that is not the name of the flag. */
export const OPTION_NAMES: Readonly<Partial<Record<keyof typeof SERVER_SETTINGS, string>>> = {
  closedRetention: 'closedProcessRetentionMs',
  spillDir: 'spillDirectory',
};

/** Everything that can be set, in the order of the help. */
export const SETTINGS = {
  listen: setting(textList, 'URL', 'ws://IP:PORT, wss://IP:PORT, unix:///PATH or stdio', {
    default: 'ws://127.0.0.1:0',
  }),
  wsAuth: setting(choice(AUTH_MODES), 'MODE', 'credential that WebSocket clients need'),
  wsTokenFile: setting(text, 'PATH', 'file with the capability token'),
  wsTokenSha256: setting(text, 'HEX', 'SHA-256 digest of the capability token', { confidential: true }),
  wsSharedSecretFile: setting(text, 'PATH', 'file with the secret of signed tokens (HS256)'),
  wsIssuer: setting(text, 'ISSUER', 'issuer that signed tokens must name'),
  wsAudience: setting(text, 'AUDIENCE', 'audience that signed tokens must name'),
  wsMaxClockSkewSeconds: setting(count, 'SECONDS', 'how far clocks may disagree over signed tokens', {
    default: '30',
  }),
  allowOrigin: setting(textList, 'ORIGIN', 'web origin whose pages may connect'),
  allowHost: setting(textList, 'NAME', 'further name by which clients reach this server'),
  allowUnauthenticated: {
    kind: presence,
    description: 'let a network listener take connections without --ws-auth',
  } as Setting<boolean>,
  tlsCert: setting(text, 'FILE', 'certificate chain for wss, PEM'),
  tlsKey: setting(text, 'FILE', 'private key for wss, PEM'),
  ...SERVER_SETTINGS,
  disableCapability: setting(textList, 'NAME', 'capability that this server does without'),
  metrics: setting(truth, 'BOOL', 'whether /metrics of WebSocket listeners tells what the server counts', {
    default: 'true',
  }),
  logLevel: setting(choice(LOG_LEVELS), 'LEVEL', 'least severe level on stderr', {
    default: 'warn',
  }),
  logFormat: setting(choice(LOG_FORMATS), 'FORMAT', 'how lines on stderr are written', {
    defaultMeaning: 'pretty on a terminal, json elsewhere',
  }),
  auditLog: setting(text, 'FILE', 'append a line per process started, refused and ended'),
} as const;

export type SettingName = keyof typeof SETTINGS;

type ValueOf<S> = S extends Setting<infer Value> ? Value : never;

/** What was set, by flags or by the configuration file; what is left out was not. */
export type ServeSettings = { readonly [Name in SettingName]?: ValueOf<(typeof SETTINGS)[Name]> };

/** `maxProcesses` → `max-processes`: the name that the flag and the key of the configuration file have. */
export function externalName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
