import { unenforceable } from './policy-error.js';

/** Characters of a pattern, its directory included: as many as a path may have. */
export const MAX_PATTERN_CHARACTERS = 4_096;

/** Where in a pattern the names of a path lead to: the components that may be next, in ascending order. */
export type GlobState = readonly number[];

/** A pattern of absolute paths, ready to be looked up. */
export interface CompiledGlob {
  /** The directory that everything which it matches is below; it has no special characters. */
  readonly base: string;
  /** Characters of what is matched below the base. A step takes time in proportion to them, and to the name. */
  readonly size: number;
  /** Where the base leads to. */
  readonly start: GlobState;
  /** Where one more name leads to; when that is nowhere, nothing below it matches either. */
  step(state: GlobState, name: string): GlobState;
  /** Whether what the names so far stand for is matched. */
  isMatch(state: GlobState): boolean;
  matches(path: string): boolean;
}

/** A part of a pattern for one name. Characters are code points. */
type Part =
  | { readonly kind: 'any-text' }
  /** `only` is the one character that fits, where there is just one. */
  | { readonly kind: 'character'; readonly fits: (character: number) => boolean; readonly only?: number }
  | { readonly kind: 'choice'; readonly options: readonly (readonly Part[])[] };

/** The parts of a pattern for one name, with how many characters a name has that they match. */
interface NamePattern {
  readonly parts: readonly Part[];
  readonly leastCharacters: number;
}

/** A part of a pattern for whole paths: one name, or any number of names. */
type Component = NamePattern | 'any-names';

const SPECIAL = /[*?[{\\]/;
const ANY_TEXT: Part = { kind: 'any-text' };
const ANY_CHARACTER: Part = { kind: 'character', fits: () => true };
const NO_CHARACTER: Part = { kind: 'character', fits: () => false };

/** What no entry of a directory is called. */
const NO_NAMES = ['', '.', '..'].map((name) => Array.from(name, codePoint));

/**
 * Compiles a pattern: `*` and `?` stay within a name, `**` as a whole component stands for any number of them, `[…]` is
 * a set of characters and `{a,b}` a choice; a backslash takes a character's meaning away. Names that begin with a dot
 * are matched like all others, because patterns here hide things. Whatever is below a match is hidden with it.
 *
 * Not translated to a regular expression: those try one way after the other, and a client could send a pattern that has
 * more ways than the server has time. Throws `PolicyError` for a pattern that means nothing, or something else than what
 * is done with it here: it would hide nothing, and nobody would know.
 */
export function compileGlob(pattern: string): CompiledGlob {
  const texts = resolveComponents(pattern).filter((text, at, all) => text !== '**' || all[at - 1] !== '**');
  const fixed = texts.findIndex((component) => SPECIAL.test(component));
  const base = texts.slice(0, fixed === -1 ? Math.max(texts.length - 1, 0) : fixed);
  const components = texts.map((text): Component => (text === '**' ? 'any-names' : parseName(text, pattern)));
  const step = (state: GlobState, name: string) => stepBy(components, state, Array.from(name, codePoint));
  const isMatch = (state: GlobState) => state.at(-1) === components.length;
  return {
    base: `/${base.join('/')}`,
    size: texts.slice(base.length).join('/').length,
    start: settle(components, [base.length]),
    step,
    isMatch,
    matches(path) {
      let state = settle(components, [0]);
      for (const name of splitComponents(path)) {
        if (state.length === 0) return false;
        state = step(state, name);
      }
      return isMatch(state);
    },
  };
}

/** Comparisons of a character with a part of a pattern that are as much work as an ordinary step. */
const COMPARISONS_PER_STEP = 2_048;

/** How many ordinary steps of work a match is that may take so many comparisons. */
export function countSteps(comparisons: number): number {
  return 1 + comparisons / COMPARISONS_PER_STEP;
}

function splitComponents(text: string): string[] {
  return text.split('/').filter((component) => component !== '' && component !== '.');
}

/** The components of a pattern. `..` takes away the name before it, as in the path of a rule. */
function resolveComponents(pattern: string): string[] {
  const resolved: string[] = [];
  for (const text of splitComponents(pattern)) {
    if (text !== '..') resolved.push(text);
    else if (resolved.pop() === '**')
      throw unenforceable(`pattern \`${pattern}\` has \`..\` behind \`**\`, which could be anywhere`);
  }
  if (resolved.length === 0) throw unenforceable(`pattern \`${pattern}\` stands for everything`);
  refuseDividedSets(resolved, pattern);
  return resolved;
}

/** A bracket that nothing closes is a character like any other; one that is closed behind a slash was meant otherwise. */
function refuseDividedSets(texts: readonly string[], pattern: string): void {
  const lastEnd = texts.findLastIndex((text) => text.includes(']'));
  for (const text of texts.slice(0, Math.max(lastEnd, 0))) {
    const start = text.lastIndexOf('[');
    if (start > text.lastIndexOf(']') && text[start - 1] !== '\\')
      throw unenforceable(`pattern \`${pattern}\` has a set of characters with a slash in it`);
  }
}

function parseName(text: string, pattern: string): NamePattern {
  const parts = parse(text, pattern);
  // Behind a wildcard they are just not among what is found; spelled out they were meant to lead somewhere.
  const literals = keepLiterals(parts);
  if (NO_NAMES.some((name) => advance(literals, [0], name).includes(name.length)))
    throw unenforceable(
      `pattern \`${pattern}\` has \`${text}\`, which stands for no name; write a pattern for each path that is meant`,
    );
  return { parts, leastCharacters: countLeast(parts) };
}

/** The parts without what fits more than one character. */
function keepLiterals(parts: readonly Part[]): Part[] {
  return parts.map((part) => {
    if (part.kind === 'choice') return { ...part, options: part.options.map(keepLiterals) };
    return part.kind === 'character' && part.only !== undefined ? part : NO_CHARACTER;
  });
}

function countLeast(parts: readonly Part[]): number {
  let least = 0;
  for (const part of parts)
    if (part.kind === 'character') least++;
    else if (part.kind === 'choice') least += part.options.map(countLeast).reduce((a, b) => Math.min(a, b));
  return least;
}

function parse(text: string, pattern: string): Part[] {
  const parts: Part[] = [];
  // Behind the last one no set ends, so that none is looked for from every bracket.
  const lastSetEnd = text.lastIndexOf(']');
  for (let at = 0; at < text.length; ) {
    const [part, length] = parseAt(text.slice(at), at < lastSetEnd, pattern);
    parts.push(part);
    at += length;
  }
  return parts;
}

/** What a pattern begins with, and how many characters that takes. */
function parseAt(text: string, mayBeSet: boolean, pattern: string): [part: Part, length: number] {
  const run = /^\*+/.exec(text);
  if (run !== null) return [ANY_TEXT, run[0].length];
  if (text.startsWith('?')) return [ANY_CHARACTER, 1];
  const set = mayBeSet ? /^\[([!^]?)(\]?[^\]]*)\]/.exec(text) : null;
  if (set !== null) {
    const members = set[2] ?? '';
    const isMember = parseSet(members, pattern);
    if (!set[1] && members.length === 1)
      return [{ kind: 'character', fits: isMember, only: codePoint(members) }, set[0].length];
    const fits = set[1] ? (character: number) => !isMember(character) : isMember;
    return [{ kind: 'character', fits }, set[0].length];
  }
  const choice = /^\{([^{}]*)\}/.exec(text);
  if (choice !== null) {
    const options = (choice[1] ?? '').split(',');
    if (options.some((option) => option.lastIndexOf('[') > option.lastIndexOf(']')))
      throw unenforceable(`pattern \`${pattern}\` has a bracket in a choice that is not closed there`);
    return [{ kind: 'choice', options: options.map((option) => parse(option, pattern)) }, choice[0].length];
  }
  if (text.startsWith('{'))
    throw unenforceable(
      `pattern \`${pattern}\` has a choice that is not closed, or has a slash or another choice in it; write a pattern for each`,
    );
  if (text === '\\')
    throw unenforceable(`pattern \`${pattern}\` has a backslash before a slash, a comma or its end`);
  const [literal = '', character] = /^\\(.)/su.exec(text) ?? [String.fromCodePoint(text.codePointAt(0)!)];
  const meant = codePoint(character ?? literal);
  return [{ kind: 'character', fits: (other) => other === meant, only: meant }, literal.length];
}

/** Characters and ranges of them. A hyphen at either end is one of the characters. */
function parseSet(text: string, pattern: string): (character: number) => boolean {
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
  return (character) => ranges.some(([first, last]) => first <= character && character <= last);
}

const HYPHEN = 0x2d;

function codePoint(character: string): number {
  return character.codePointAt(0)!;
}

function stepBy(components: readonly Component[], state: GlobState, name: readonly number[]): GlobState {
  const next: number[] = [];
  for (const at of state) {
    const component = components[at];
    if (component === 'any-names') next.push(at);
    else if (component !== undefined && matchesName(component, name)) next.push(at + 1);
  }
  return settle(components, next);
}

/** Adds what is behind components that may stand for nothing. Takes places in ascending order, and gives them so. */
function settle(components: readonly Component[], places: readonly number[]): GlobState {
  const settled: number[] = [];
  const add = (at: number) => {
    if (at > (settled.at(-1) ?? -1)) settled.push(at);
  };
  for (const at of places) {
    add(at);
    // Two of them never follow one another.
    if (components[at] === 'any-names') add(at + 1);
  }
  return settled;
}

function matchesName({ parts, leastCharacters }: NamePattern, name: readonly number[]): boolean {
  if (name.length < leastCharacters) return false;
  return advance(parts, [0], name).at(-1) === name.length;
}

/** Where in a name the parts may end that begin at any of the places given. Both are in ascending order. */
function advance(
  parts: readonly Part[],
  begin: readonly number[],
  name: readonly number[],
): readonly number[] {
  let places = begin;
  for (const part of parts) {
    if (places.length === 0) break;
    if (part.kind === 'any-text') places = countFrom(places[0]!, name.length);
    else if (part.kind === 'character') places = stepOver(part.fits, places, name);
    else places = choose(part.options, places, name);
  }
  return places;
}

function countFrom(first: number, last: number): number[] {
  const numbers: number[] = [];
  for (let number = first; number <= last; number++) numbers.push(number);
  return numbers;
}

/** The places one behind those at which there is a character that fits. */
function stepOver(
  fits: (character: number) => boolean,
  places: readonly number[],
  name: readonly number[],
): number[] {
  const next: number[] = [];
  for (const at of places) if (at < name.length && fits(name[at]!)) next.push(at + 1);
  return next;
}

function choose(
  options: readonly (readonly Part[])[],
  places: readonly number[],
  name: readonly number[],
): number[] {
  const isEnd = new Uint8Array(name.length + 1);
  for (const option of options) for (const end of advance(option, places, name)) isEnd[end] = 1;
  return countFrom(0, name.length).filter((at) => isEnd[at] === 1);
}
