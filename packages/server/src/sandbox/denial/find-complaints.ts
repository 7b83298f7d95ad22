/** Something that a program says it was refused. */
export type Complaint = { readonly about: 'network' } | { readonly about: 'path'; readonly path: string };

/** The kernel's words for refusals that a sandbox causes. */
const REFUSAL =
  /read-only file system|permission denied|operation not permitted|\bEROFS\b|\bEACCES\b|\bEPERM\b/i;

/** Words of programs that could not reach anybody. */
const NETWORK =
  /could ?n[o']t (?:resolve (?:host|proxy)|connect to server)|failed to connect to |failure in name resolution|name or service not known|network is unreachable|\bENETUNREACH\b|\bEAI_AGAIN\b|getaddrinfo|\bsocket\b.*operation not permitted/i;

/** A path in quotes of any kind. */
const QUOTED = /'([^']+)'|"([^"]+)"|`([^`']+)[`']|‘([^’]+)’/g;
/** What programs put before the words: `cannot create x: Read-only …`. */
const BEFORE_WORDS = /(\S+): *(?:\[?\w+ \d+\]? *)?$/;
const ABSOLUTE = /(?:^|[\s'"`=(])(\/[^\s'"`:,;)]+)/g;

/** Finds the lines in which a program says that it was refused something, and what. */
export function findComplaints(text: string): Complaint[] {
  return text.split(/\r?\n/).flatMap((line): Complaint[] => {
    if (NETWORK.test(line)) return [{ about: 'network' }];
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
