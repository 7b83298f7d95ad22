/** Something that a program says it was refused. */
export type Complaint = { readonly about: 'network' } | { readonly about: 'path'; readonly path: string };

/** The kernel's words for refusals that a sandbox causes. */
const REFUSAL =
  /read-only file system|permission denied|operation not permitted|\bEROFS\b|\bEACCES\b|\bEPERM\b/i;

/** Words of programs that could not reach anybody. */
const NETWORK =
  /could ?n[o']t (?:resolve (?:host|proxy)|connect to server)|failed to connect to |failure in name resolution|name or service not known|network is unreachable|\bENETUNREACH\b|\bEAI_AGAIN\b|getaddrinfo|\b(?:socket|urlopen|connect(?:ing)?)\b.*(?:operation not permitted|\bEPERM\b)/i;

/** What a refused socket fails with, by itself at the end of a trace that tells what it was about. */
const NOT_PERMITTED = /operation not permitted|\bEPERM\b/i;
const ABOUT_SOCKETS = /\bsocket\b/i;
/** Lines between the two: source text, and marks below it. */
const TRACE_LINES = 3;

/** A path in quotes of any kind. */
const QUOTED = /'([^']+)'|"([^"]+)"|`([^`']+)[`']|‘([^’]+)’/g;
/** What programs put before the words: `cannot create x: Read-only …`. */
const BEFORE_WORDS = /(\S+): *(?:\[?\w+ \d+\]? *)?$/;
const ABSOLUTE = /(?:^|[\s'"`=(])(\/[^\s'"`:,;)]+)/g;

/** Finds the lines in which a program says that it was refused something, and what. */
export function findComplaints(text: string): Complaint[] {
  const lines = text.split(/\r?\n/);
  return lines.flatMap((line, index): Complaint[] => {
    if (NETWORK.test(line)) return [{ about: 'network' }];
    if (NOT_PERMITTED.test(line) && isTraceOf(lines, index)) return [{ about: 'network' }];
    const words = REFUSAL.exec(line);
    if (words === null) return [];
    const before = BEFORE_WORDS.exec(line.slice(0, words.index))?.[1];
    const quoted = Array.from(line.matchAll(QUOTED), (match) =>
      match.slice(1).find((part) => part !== undefined),
    );
    const absolute = Array.from(line.matchAll(ABSOLUTE), ([, path]) => path);
    const paths = new Set([before, ...quoted, ...absolute].flatMap((path) => path ?? []));
    return Array.from(paths, (path) => ({ about: 'path', path }));
  });
}

/** Whether a line ends an indented trace whose innermost part has to do with sockets. */
function isTraceOf(lines: readonly string[], end: number): boolean {
  const innermost = lines.slice(Math.max(0, end - TRACE_LINES), end);
  return innermost.at(-1)?.startsWith('  ') === true && innermost.some((line) => ABOUT_SOCKETS.test(line));
}
