import { unenforceable } from './policy-error.js';

/** A pattern of absolute paths, ready to be looked up. */
export interface CompiledGlob {
  /** The directory that everything which it matches is below; it has no special characters. */
  readonly base: string;
  /** Takes time in proportion to the pattern and to the path, whatever is in them. */
  matches(path: string): boolean;
}

/** A part of a pattern for one name. */
type Part =
  | { readonly kind: 'any-text' }
  | { readonly kind: 'character'; readonly fits: (character: string) => boolean }
  | { readonly kind: 'choice'; readonly options: readonly (readonly Part[])[] };

/** A part of a pattern for whole paths: the parts of one name, or any number of names. */
type Component = readonly Part[] | 'any-names';

const SPECIAL = /[*?[{\\]/;
const ANY_TEXT: Part = { kind: 'any-text' };
const ANY_CHARACTER: Part = { kind: 'character', fits: () => true };

/**
 * Compiles a pattern: `*` and `?` stay within a name, `**` as a whole component stands for any number of them, `[…]` is
 * a set of characters and `{a,b}` a choice; a backslash takes a character's meaning away. Names that begin with a dot
 * are matched like all others, because patterns here hide things. Whatever is below a match is hidden with it.
 *
 * Not translated to a regular expression: those try one way after the other, and a client could send a pattern that has
 * more ways than the server has time. Throws `PolicyError` for a pattern that means nothing.
 */
export function compileGlob(pattern: string): CompiledGlob {
  const texts = splitComponents(pattern);
  const fixed = texts.findIndex((component) => SPECIAL.test(component));
  const base = texts.slice(0, fixed === -1 ? Math.max(texts.length - 1, 0) : fixed);
  const components = texts.map((text): Component => (text === '**' ? 'any-names' : parse(text, pattern)));
  return {
    base: `/${base.join('/')}`,
    matches: (path) => matchComponents(components, splitComponents(path)),
  };
}

function splitComponents(text: string): string[] {
  return text.split('/').filter((component) => component !== '' && component !== '.');
}

function parse(text: string, pattern: string): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < text.length; ) {
    const [part, length] = parseAt(text.slice(at), pattern);
    parts.push(part);
    at += length;
  }
  return parts;
}

/** What a pattern begins with, and how many characters that takes. */
function parseAt(text: string, pattern: string): [part: Part, length: number] {
  const run = /^\*+/.exec(text);
  if (run !== null) return [ANY_TEXT, run[0].length];
  if (text.startsWith('?')) return [ANY_CHARACTER, 1];
  const set = /^\[([!^]?)(\]?[^\]]*)\]/.exec(text);
  if (set !== null) {
    const isMember = parseSet(set[2] ?? '', pattern);
    const fits = set[1] ? (character: string) => !isMember(character) : isMember;
    return [{ kind: 'character', fits }, set[0].length];
  }
  const choice = /^\{([^{}]*)\}/.exec(text);
  if (choice !== null) {
    const options = (choice[1] ?? '').split(',').map((option) => parse(option, pattern));
    return [{ kind: 'choice', options }, choice[0].length];
  }
  const [literal = '', character] = /^\\(.)/su.exec(text) ?? [String.fromCodePoint(text.codePointAt(0)!)];
  const meant = character ?? literal;
  return [{ kind: 'character', fits: (other) => other === meant }, literal.length];
}

/** Characters and ranges of them. A hyphen at either end is one of the characters. */
function parseSet(text: string, pattern: string): (character: string) => boolean {
  const characters = Array.from(text, codePoint);
  const ranges: [first: number, last: number][] = [];
  for (let at = 0; at < characters.length; ) {
    const first = characters[at]!;
    const last = characters[at + 1] === HYPHEN ? characters[at + 2] : undefined;
    if (last !== undefined && last < first)
      throw unenforceable(`pattern \`${pattern}\` has a range of characters that ends before it begins`);
    ranges.push([first, last ?? first]);
    at += last === undefined ? 1 : 3;
  }
  return (character) =>
    ranges.some(([first, last]) => first <= codePoint(character) && codePoint(character) <= last);
}

const HYPHEN = 0x2d;

function codePoint(character: string): number {
  return character.codePointAt(0)!;
}

function matchComponents(components: readonly Component[], names: readonly string[]): boolean {
  const characters = names.map((name) => Array.from(name));
  let places = new Set([0]);
  for (const component of components) {
    if (component === 'any-names') places = allFrom(places, names.length);
    else
      places = stepFrom(places, names.length, (at) => {
        const name = characters[at]!;
        return advance(component, new Set([0]), name).has(name.length);
      });
  }
  return places.has(names.length);
}

/** Where in a name the parts may end that begin at any of the given places. */
function advance(parts: readonly Part[], from: ReadonlySet<number>, name: readonly string[]): Set<number> {
  let places = new Set(from);
  for (const part of parts) {
    if (part.kind === 'any-text') places = allFrom(places, name.length);
    else if (part.kind === 'character') places = stepFrom(places, name.length, (at) => part.fits(name[at]!));
    else places = new Set(part.options.flatMap((option) => [...advance(option, places, name)]));
  }
  return places;
}

function allFrom(places: ReadonlySet<number>, end: number): Set<number> {
  if (places.size === 0) return new Set();
  const first = Math.min(...places);
  return new Set(Array.from({ length: end - first + 1 }, (_, offset) => first + offset));
}

/** The places one behind those at which there is something that fits. */
function stepFrom(places: ReadonlySet<number>, end: number, fitsAt: (at: number) => boolean): Set<number> {
  return new Set([...places].filter((at) => at < end && fitsAt(at)).map((at) => at + 1));
}
