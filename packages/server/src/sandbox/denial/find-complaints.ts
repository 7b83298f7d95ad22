/** Something that a program says it was refused. */
export type Complaint = { readonly about: 'network' } | { readonly about: 'path'; readonly path: string };

/*
 * All of this reads what a program wrote, so that every expression here takes time in proportion to a line, whatever is in
 * it: none has two parts in a row that could divide the same text between them in many ways.
 */

/** The kernel's words for refusals that a sandbox causes. */
const REFUSAL =
  /read-only file system|permission denied|operation not permitted|\bEROFS\b|\bEACCES\b|\bEPERM\b/gi;

/** Words of programs that could not reach anybody. */
const NETWORK =
  /could ?n[o']t (?:resolve (?:host|proxy)|connect to server)|failed to connect to |failure in name resolution|name or service not known|network is unreachable|\bENETUNREACH\b|\bEAI_AGAIN\b|getaddrinfo/i;

/** What a refused socket fails with: behind a word about the network, or by itself at the end of a trace. */
const NOT_PERMITTED = /operation not permitted|\bEPERM\b/i;
const ABOUT_CONNECTING = /\b(?:socket|urlopen|connect(?:ing)?)\b/i;
const ABOUT_SOCKETS = /\bsocket\b/i;
/** Lines between the two: source text, and marks below it. */
const TRACE_LINES = 3;

/** A path in quotes of any kind. */
const QUOTED = /'([^']+)'|"([^"]+)"|`([^`']+)[`']|‘([^‘’]+)’/g;
const ABSOLUTE = /(?:^|[\s'"`=(])(\/[^\s'"`:,;)]+)/g;

/** Finds the lines in which a program says that it was refused something, and what. */
export function* findComplaints(text: string): Generator<Complaint, void> {
  if (NETWORK.test(text)) yield { about: 'network' };
  let searched = 0;
  for (const { index } of text.matchAll(REFUSAL)) {
    if (index < searched) continue;
    const start = text.lastIndexOf('\n', index) + 1;
    const line = readLine(text, start);
    searched = start + line.length;
    if (NETWORK.test(line)) continue;
    if (isAboutSockets(line) || endsTraceOfSocket(text, start, line)) yield { about: 'network' };
    else for (const path of findPaths(line, index - start)) yield { about: 'path', path };
  }
}

function readLine(text: string, start: number): string {
  const end = text.indexOf('\n', start);
  return end === -1 ? text.slice(start) : text.slice(start, end);
}

/** Whether a line says of something with sockets that it is not permitted. */
function isAboutSockets(line: string): boolean {
  const words = ABOUT_CONNECTING.exec(line);
  return words !== null && NOT_PERMITTED.test(line.slice(words.index + words[0].length));
}

/** Whether a line ends an indented trace whose innermost part has to do with sockets. */
function endsTraceOfSocket(text: string, start: number, line: string): boolean {
  if (!NOT_PERMITTED.test(line)) return false;
  const lines: string[] = [];
  for (let at = start; at > 0 && lines.length < TRACE_LINES; ) {
    at = at === 1 ? 0 : text.lastIndexOf('\n', at - 2) + 1;
    lines.push(readLine(text, at));
  }
  return lines[0]?.startsWith('  ') === true && lines.some((before) => ABOUT_SOCKETS.test(before));
}

function findPaths(line: string, wordsAt: number): Set<string> {
  const quoted = Array.from(line.matchAll(QUOTED), (match) =>
    match.slice(1).find((part) => part !== undefined),
  );
  const absolute = Array.from(line.matchAll(ABSOLUTE), ([, path]) => path);
  return new Set([findSubject(line, wordsAt), ...quoted, ...absolute].flatMap((path) => path ?? []));
}

/**
 * What programs put before the words: the `x` of `cannot create x: Read-only …`, also with a number between them, as in
 * `x: [Errno 30] Read-only …`.
 */
function findSubject(line: string, wordsAt: number): string | undefined {
  const end = skipSpaces(line, wordsAt);
  const colon = line[end - 1] === ':' ? end : skipSpaces(line, skipNumber(line, end));
  if (line[colon - 1] !== ':') return undefined;
  let start = colon - 1;
  while (start > 0 && !isSpace(line[start - 1])) start--;
  return line.slice(start, colon - 1) || undefined;
}

/** Where `[Errno 30]` or `error 30` begins that ends at a place; the place itself where there is none. */
function skipNumber(line: string, end: number): number {
  const digitsEnd = line[end - 1] === ']' ? end - 1 : end;
  const digits = skipBack(line, digitsEnd, isDigit);
  if (digits === digitsEnd || line[digits - 1] !== ' ') return end;
  const word = skipBack(line, digits - 1, isWord);
  if (word === digits - 1) return end;
  return line[word - 1] === '[' ? word - 1 : word;
}

function skipSpaces(line: string, end: number): number {
  return skipBack(line, end, (character) => character === ' ');
}

function skipBack(line: string, end: number, fits: (character: string) => boolean): number {
  let at = end;
  while (at > 0 && fits(line.charAt(at - 1))) at--;
  return at;
}

function isSpace(character = ''): boolean {
  return character.trim() === '';
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

function isWord(character: string): boolean {
  return /\w/.test(character);
}
