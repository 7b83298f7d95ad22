/** Who writes the text that an expression sees, and what bounds it. */
export type Input =
  /** Text of this program itself. */
  | 'constant'
  /** Words of a command line; whoever types them is the only one who waits. */
  | 'argument'
  /** What a program that uses the SDK passes to it. */
  | 'caller'
  /** Settings of whoever runs the server. */
  | 'configuration'
  /** Variables of the server. */
  | 'environment'
  /** What the kernel tells in `/proc`, names of processes and paths included. */
  | 'kernel'
  /** What programs of this system print, or errors of its libraries. */
  | 'system'
  /** Names of files that anybody may have made. */
  | 'file name'
  /** Files that anybody may have written. */
  | 'file'
  /** The head of an HTTP request or of a connection to a proxy, bounded in bytes before it is read. */
  | 'request head'
  /** What another server answers to a request that a client has made. */
  | 'response'
  /** A message of a client, as large as messages may be. */
  | 'message'
  /** What a server tells its client. */
  | 'answer'
  /** What a child writes. */
  | 'output';

/** What is bounded to kilobytes, or is nobody else's. */
export const BOUNDED: ReadonlySet<Input> = new Set([
  'constant',
  'argument',
  'configuration',
  'kernel',
  'request head',
]);

export interface Review {
  readonly reads: Input;
  readonly expressions: readonly RegExp[];
  /** How many more the file makes from text; an example of each is among `expressions`. */
  readonly built?: number;
  /** The worst for these in particular, beside what is tried on all: a text of about so many characters. */
  readonly worst?: readonly ((length: number) => string)[];
}

/**
 * Every regular expression of the packages, by file below `packages`. Each is tried with the worst texts, whatever it
 * reads: who writes a text today is not who writes it tomorrow. A new one is entered here; one that takes too long is
 * written in another way, with an expression that cannot divide a text in two ways, or with a loop.
 */
export const REGULAR_EXPRESSIONS: Readonly<Record<string, Review>> = {
  'cli/src/option-values.ts': {
    reads: 'argument',
    expressions: [/^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/, /^\+?\d+$/],
  },
  'cli/src/usage-error.ts': { reads: 'argument', expressions: [/^error: /, /'([^']*)'/] },
  'cli/src/client/detach-keys.ts': { reads: 'argument', expressions: [/^ctrl-([a-z@[\\\]^_])$/, /^[!-~]$/] },
  'cli/src/client/explain-error.ts': {
    reads: 'answer',
    expressions: [/^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_)/, /os error 2\b/],
  },
  'cli/src/client/read-env-file.ts': {
    reads: 'argument',
    expressions: [/^(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)=/, /\\([n"\\])/g],
  },
  'cli/src/client/printable.ts': {
    reads: 'answer',
    expressions: [/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu],
  },
  'cli/src/client/resolve-server.ts': { reads: 'argument', expressions: [/^wss?:/i, /^wss:/i] },
  'cli/src/completion/describe-commands.ts': {
    reads: 'constant',
    expressions: [/file|path|dir|source|destination/i, /[<[]([^<[>\]]+)[>\]]/],
  },
  'cli/src/completion/fish.ts': { reads: 'constant', expressions: [/[\\']/g] },
  'cli/src/completion/zsh.ts': { reads: 'constant', expressions: [/[\\[\]]/g] },
  'cli/src/doctor/check-limits.ts': {
    reads: 'kernel',
    expressions: [/^Max open files +(\S+)/m],
    built: 1,
  },
  'cli/src/files/resolve-remote-path.ts': { reads: 'argument', expressions: [/^~(?=\/|$)/] },
  'cli/src/serve/settings.ts': { reads: 'constant', expressions: [/[A-Z]/g] },
  'client/src/dial/dial-within.ts': {
    reads: 'system',
    expressions: [/^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EACCES$|EPERM$)/],
  },
  'client/src/fs/directory.ts': { reads: 'caller', expressions: [/[/\0]/] },
  'client/src/fs/file-system-error.ts': {
    reads: 'answer',
    expressions: [
      /^path contains a symbolic link$/,
      /^fs\/copy requires recursive: true/,
      /^fs\/copy (?:cannot copy a directory to itself|only supports regular files)/,
      /NUL byte$/,
      /^at most \d+ file handles may be open/,
      /^file is too large to read/,
      /\(os error (\d+)\)$/,
    ],
    worst: [(length) => '(os error 1'.repeat(length / 11)],
  },
  'client/src/fs/remote-path.ts': { reads: 'caller', expressions: [/\/\.{0,2}(?:\/|$)/] },
  'client/src/node/contexts.ts': { reads: 'caller', expressions: [/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/] },
  'client/src/process/collected-output.ts': { reads: 'output', expressions: [/\r?\n/] },
  'client/src/process/expectation.ts': { reads: 'caller', expressions: [/[gy]/g, /ready/], built: 1 },
  'client/src/process/shell-quote.ts': {
    reads: 'caller',
    expressions: [/^[A-Za-z0-9_@%+=:,./-]+$/, /\\(`|\$(?=\{))/g],
  },
  'client/src/unified-exec/command-line.ts': { reads: 'caller', expressions: [/\.exe$/] },
  'protocol/src/base64.ts': { reads: 'message', expressions: [/[^A-Za-z0-9+/]/] },
  'protocol/src/describe.ts': { reads: 'message', expressions: [/["\\]/g, /[^\u0020-\u007e\u0080-\uffff]/g] },
  'protocol/src/envelope.ts': { reads: 'message', expressions: [/^-?[0-9]+$/] },
  'protocol/src/json-strings.ts': { reads: 'message', expressions: [/[^\u0020-\uffff]/, /^[0-9a-fA-F]{4}$/] },
  'protocol/src/path-uri.ts': {
    reads: 'message',
    expressions: [
      /^file:\/\/\/%00\/bad\/path\/([A-Za-z0-9_-]+)$/,
      /^[^\u0021-\uffff]*([A-Za-z][A-Za-z0-9+.-]*):/,
      /^file:\/\/\/[A-Za-z](?::|%3A)(?:\/|$)/i,
      /^file:\/\/\/[a-z]:(?=\/|$)/,
      /^(file:\/\/\/[A-Za-z])\|/i,
      /^\/[A-Za-z0-9_~$&'()+,;=@.!*/-]*$/,
      /\/\.?(?:[.!*/]|$)/,
      /[\t\n\r]/g,
      /^[0-9a-fA-F]{2}$/,
    ],
    worst: [(length) => '/a'.repeat(length / 2), (length) => `file:///${'a/.'.repeat(length / 3)}`],
  },
  'protocol/src/uuid.ts': { reads: 'message', expressions: [/[^0-9a-fA-F-]/] },
  'protocol/src/app/decode.ts': { reads: 'message', expressions: [/^invalid type: number,/] },
  'rpc/src/node/json-byte-reader.ts': { reads: 'message', expressions: [/^\./] },
  'rpc/src/node/json-byte-strings.ts': {
    reads: 'message',
    expressions: [/[^\u0020-\uffff]/, /^[0-9a-fA-F]{4}$/],
  },
  'rpc/src/node/line-transport.ts': { reads: 'message', expressions: [/\S/] },
  'server/src/capabilities/plugin-cache.ts': {
    reads: 'file name',
    expressions: [/^[A-Za-z0-9_-]+$/, /^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/, /^[A-Za-z0-9_.+-]+$/],
  },
  'server/src/capabilities/plugin-manifest.ts': { reads: 'file', expressions: [/[/\\]/] },
  'server/src/capabilities/plugin-version.ts': {
    reads: 'file name',
    expressions: [/^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/, /^\d+$/, /^0+(?=\d)/],
    worst: [(length) => `1.2.3-${'a.'.repeat(length / 2)}+`],
  },
  'server/src/capabilities/skill-frontmatter.ts': {
    reads: 'file',
    expressions: [/^\s*[^\s:#]/, /^['"|>]/, /\s#/, /:\s/, /^[[{@`]/],
    worst: [(length) => `a: b${' '.repeat(length)}c`, (length) => `a: b${' #'.repeat(length / 2)}\r`],
  },
  'server/src/capabilities/yaml-fields.ts': { reads: 'file', expressions: [/\s+/] },
  'server/src/fs/native-path.ts': { reads: 'message', expressions: [/\/\.{0,2}(?:\/|$)/] },
  'server/src/http/exchange.ts': { reads: 'response', expressions: [/^[\t\x20-\x7e]*$/] },
  'server/src/http/header-env-vars.ts': { reads: 'message', expressions: [/[\0=]/] },
  'server/src/http/header-list.ts': { reads: 'environment', expressions: [/%([0-9a-f]{2})/gi] },
  'server/src/http/parse-url.ts': {
    reads: 'message',
    expressions: [
      /(^|\.)xn--/,
      /^\[(.*)\]$/,
      /^\s*[a-z][a-z0-9+.-]*:[/\\]*([^/\\?#]*)/i,
      /^(\[[^\]]*\]?|[^:]*)(.*)$/s,
      /(^|\.)(\d+|0x[\da-f]*)\.?$/i,
    ],
    worst: [
      (length) => `http:${'/'.repeat(length)}`,
      (length) => `0x${'f'.repeat(length)}.g`,
      (length) => `${'1.'.repeat(length / 2)}x`,
    ],
  },
  'server/src/http/prepare-request.ts': {
    reads: 'message',
    expressions: [/^[!#$%&'*+\-.^_`|~0-9a-z]+$/i, /^[\t\x20-\x7e\x80-\u{10ffff}]*$/u],
  },
  'server/src/http/proxy-rules.ts': { reads: 'environment', expressions: [/^\./, /^\d{1,3}$/] },
  'server/src/listen/auth.ts': { reads: 'request head', expressions: [/^bearer ([\x20-\x7e]*)$/i] },
  'server/src/listen/check-allow-lists.ts': { reads: 'configuration', expressions: [/^[^\s/@]+$/] },
  'server/src/listen/host-guard.ts': {
    reads: 'request head',
    expressions: [/^\[([^\]]*)\](?::\d*)?$/, /:\d*$/],
    worst: [(length) => `${':1'.repeat(length / 2)}a`, (length) => `[${':'.repeat(length)}`],
  },
  'server/src/listen/http-surface.ts': {
    reads: 'request head',
    expressions: [/^[A-Za-z0-9+/]{22}==$/, /^https?:\/\/([^/?#]*)/i, /[?#].*$/s],
  },
  'server/src/listen/ip-address.ts': { reads: 'request head', expressions: [/^[0.:]+$/] },
  'server/src/listen/listen-url.ts': {
    reads: 'configuration',
    expressions: [/^(wss?):\/\/(?:\[([^\]]*)\]|([^:]*)):(\d+)$/],
  },
  'server/src/listen/load-auth-policy.ts': { reads: 'configuration', expressions: [/^[0-9a-f]{64}$/i] },
  'server/src/listen/signed-token.ts': { reads: 'request head', expressions: [/^[\w-]+\.[\w-]+\.[\w-]+$/] },
  'server/src/listen/websocket.ts': { reads: 'request head', expressions: [/^[\x21-\x7e]{1,256}$/] },
  'server/src/native/namespace-members.ts': { reads: 'kernel', expressions: [/^NSpid:\s+(.*)$/m, /\s+/] },
  'server/src/native/process-tree.ts': { reads: 'kernel', expressions: [/\s+/] },
  'server/src/native/tree-marks.ts': { reads: 'kernel', expressions: [/^Max file locks +(\d+) /m] },
  'server/src/network-proxy/ask-client.ts': { reads: 'message', expressions: [/\p{Cc}/u, /[\p{Cc}\s]/u] },
  'server/src/output/open-spill-file.ts': { reads: 'message', expressions: [/[^A-Za-z0-9._-]/g] },
  'server/src/process/network.ts': { reads: 'message', expressions: [/_proxy$/i, /(^|_)no_proxy$/i] },
  'server/src/shell-snapshot/restore-script.ts': {
    reads: 'output',
    expressions: [/^[0-7]+$/, /^declare -f[a-z]+ /, /^[a-z_]+$/, /^no/, /^set -o (\S+)$/],
  },
  'server/src/telemetry/escape-controls.ts': {
    reads: 'message',
    expressions: [/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu],
  },
  'server/src/telemetry/format-pretty-line.ts': { reads: 'message', expressions: [/^[\w./:@+-]+$/] },
  'server/src/dialects/app/config-table.ts': { reads: 'constant', expressions: [/[A-Z]/g] },
  'server/src/dialects/app/decode-output.ts': { reads: 'output', expressions: [/[\u0080-\u{10ffff}]/u] },
  'server/src/dialects/app/initialize.ts': {
    reads: 'message',
    expressions: [/^[\t\x20-\x7e\x80-\uffff]*$/, /[^ -~]/gu],
  },
  'server/src/environment/config/format-toml.ts': {
    reads: 'file',
    expressions: [/^[A-Za-z0-9_-]+$/, /['\p{Cc}]/u, /\.\d+/, /["\\]/, /""|"$/g],
  },
  'server/src/environment/config/git-root.ts': {
    reads: 'file',
    expressions: [/^gitdir:\s*(.+)$/m],
    worst: [(length) => `gitdir:${'\n'.repeat(length)}`, (length) => 'gitdir:\n'.repeat(length / 8)],
  },
  'server/src/environment/config/toml-file.ts': { reads: 'file', expressions: [/^\ufeff/] },
  'server/src/native/cgroup/cgroup-home.ts': {
    reads: 'file name',
    expressions: [/^exec-server-(\d+)-(\d+)-[0-9a-f]+$/],
  },
  'server/src/native/cgroup/own-cgroup.ts': {
    reads: 'kernel',
    expressions: [/^0::(\/.*)$/m, /\\([0-7]{3})/g],
  },
  'server/src/native/cgroup/whole-tree.ts': {
    reads: 'kernel',
    expressions: [/^Tgid:\s+(\d+)$/m],
    worst: [(length) => 'Tgid:\n'.repeat(length / 6)],
  },
  'server/src/network-proxy/http/authority.ts': {
    reads: 'request head',
    expressions: [
      /^(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?$/i,
      /^([a-z][a-z\d+.-]*):\/\/([^/?#]*)([/?][^#]*)?$/i,
      /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s,
      /^[1-9]\d{0,4}$/,
      /^\/[^#]*$/,
      /^\[([\da-f:.]+)\]$/i,
    ],
    worst: [(length) => 'a.'.repeat(length / 2), (length) => `${'a'.repeat(63)}.`.repeat(length / 64)],
  },
  'server/src/network-proxy/http/http-proxy.ts': { reads: 'request head', expressions: [/^(chunked)?$/i] },
  'server/src/network-proxy/http/request-head.ts': {
    reads: 'request head',
    expressions: [/^[\w!#$%&'*+.^`|~, \t-]*$/, /^\d+$/],
  },
  'server/src/network-proxy/rules/domain-pattern.ts': {
    reads: 'message',
    expressions: [/[*?]/, /^\*\./, /[*?]+/g, /[[\]]/],
  },
  'server/src/network-proxy/rules/host-name.ts': {
    reads: 'message',
    expressions: [/[\p{Cc}\s/\\?#@%:[\]]/u, /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/],
  },
  'server/src/network-proxy/socks/messages.ts': { reads: 'request head', expressions: [/(.{4})(?=.)/g] },
  'server/src/sandbox/bubblewrap/find-bubblewrap.ts': {
    reads: 'system',
    expressions: [/\b\d+\.\d+(?:\.\d+)?\b/],
    worst: [(length) => `${'1.'.repeat(length / 2)}a`, (length) => `1.${'1'.repeat(length)}a`],
  },
  'server/src/sandbox/denial/find-complaints.ts': {
    reads: 'output',
    expressions: [
      /read-only file system|permission denied|operation not permitted|\bEROFS\b|\bEACCES\b|\bEPERM\b/gi,
      /could ?n[o']t (?:resolve (?:host|proxy)|connect to server)|failed to connect to |failure in name resolution|name or service not known|network is unreachable|\bENETUNREACH\b|\bEAI_AGAIN\b|getaddrinfo/i,
      /operation not permitted|\bEPERM\b/i,
      /\b(?:socket|urlopen|connect(?:ing)?)\b/i,
      /\bsocket\b/i,
      /'([^']+)'|"([^"]+)"|`([^`']+)[`']|‘([^‘’]+)’/g,
      /(?:^|[\s'"`=(])(\/[^\s'"`:,;)]+)/g,
      /\w/,
    ],
    worst: [
      (length) => "cannot touch 'a': ".repeat(length / 18),
      (length) => `${'socket connect '.repeat(length / 15)}EPER`,
      (length) => `x: [Errno ${'1'.repeat(length)}] `,
    ],
  },
  'server/src/sandbox/files/runtime-paths.ts': {
    reads: 'system',
    expressions: [/^[\t ]*(?:\S+ => )?(\/\S+) \(0x[0-9a-f]+\)$/gm],
    worst: [(length) => `${'a => '.repeat(length / 5)}`, (length) => `/a (0x${'0'.repeat(length)}`],
  },
  'server/src/sandbox/hidden-sockets.ts': { reads: 'environment', expressions: [/[,;]/] },
  'server/src/sandbox/policy/glob.ts': {
    reads: 'message',
    expressions: [/[*?[{\\]/, /^\*+/, /^\[([!^]?)(\]?[^\]]*)\]/, /^\{([^{}]*)\}/, /^\\(.)/su],
  },
  'server/src/sandbox/policy/resolve-policy.ts': { reads: 'message', expressions: [/[*?[\]{}\\]/g] },
  'server/src/telemetry/tracing/caller-trace.ts': { reads: 'message', expressions: [/^[\x20-\x7e]+$/] },
  'server/src/telemetry/tracing/trace-parent.ts': {
    reads: 'message',
    expressions: [/^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/s, /^0+$/],
    worst: [(length) => `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01-${'\n'.repeat(length)}`],
  },
  'testing/src/takes-too-long.ts': { reads: 'constant', expressions: [/[0-9]x/] },
  'testing/src/start-server.ts': { reads: 'constant', expressions: [/^(.*)\n/] },
};
