import type { Steps } from '../../loop-turn.js';
import type { Access, PolicyEntry } from './policy.js';

const SLASH = 0x2f;
const SEPARATOR = '\0';
/** The first text behind everything that begins with a path and a separator. */
const BEHIND = '\u0001';

/** Rules that are sorted in one piece; more are merged, with pauses. */
const RUN_LENGTH = 512;

/** Of two rules for one path the one that comes later here counts. */
const PRECEDENCE: readonly Access[] = ['read', 'write', 'deny'];

/**
 * Rules by path, one for each. They are sorted so that each is followed by everything below it, and each knows the one
 * that it is below: what counts for a path is found in a few steps, however many rules there are.
 */
export class RuleTree<Rule extends PolicyEntry = PolicyEntry> {
  /** Parents before what is below them. */
  readonly rules: readonly Rule[];
  readonly #keys: readonly string[];
  /** The index of the rule that each is below; -1 for none. */
  readonly #parents: Int32Array;
  /** How many rules before each index allow something. */
  readonly #openBefore: Int32Array;

  private constructor(
    keys: readonly string[],
    rules: readonly Rule[],
    parents: Int32Array,
    openBefore: Int32Array,
  ) {
    this.rules = rules;
    this.#keys = keys;
    this.#parents = parents;
    this.#openBefore = openBefore;
  }

  /** Of several rules for one path the strictest denial counts, then the widest permission, then the first. */
  static *build<Rule extends PolicyEntry>(rules: Iterable<Rule>): Steps<RuleTree<Rule>> {
    const byKey = new Map<string, Rule>();
    for (const rule of rules) {
      const key = toKey(rule.path);
      const other = byKey.get(key);
      if (other === undefined || PRECEDENCE.indexOf(other.access) < PRECEDENCE.indexOf(rule.access))
        byKey.set(key, rule);
      yield;
    }
    const keys = yield* sort([...byKey.keys()]);
    const sorted: Rule[] = [];
    const parents = new Int32Array(keys.length);
    const openBefore = new Int32Array(keys.length + 1);
    for (const [index, key] of keys.entries()) {
      const rule = byKey.get(key)!;
      let parent = index - 1;
      while (parent >= 0 && !isBelow(key, keys[parent]!)) parent = parents[parent]!;
      parents[index] = parent;
      openBefore[index + 1] = openBefore[index]! + (rule.access === 'deny' ? 0 : 1);
      sorted.push(rule);
      yield;
    }
    return new RuleTree(keys, sorted, parents, openBefore);
  }

  /** The same of a few rules, at once. */
  static of<Rule extends PolicyEntry>(rules: readonly Rule[]): RuleTree<Rule> {
    const steps = RuleTree.build(rules);
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
    }
  }

  /** The rule that counts for a path: the one of the longest path that it is or is below. */
  find(path: Uint8Array): Rule | undefined {
    const key = toKey(path);
    let index = this.#firstFrom(key);
    if (this.#keys[index] === key) return this.rules[index];
    index--;
    if (index < 0) return undefined;
    // What is above both the path and the rule before it is no longer than what the two have in common.
    const common = countCommon(key, this.#keys[index]!);
    while (index >= 0 && (this.#keys[index]!.length > common || key[this.#keys[index]!.length] !== SEPARATOR))
      index = this.#parents[index]!;
    return this.rules[index];
  }

  /** The rule for just this path. */
  get(path: Uint8Array): Rule | undefined {
    const key = toKey(path);
    const index = this.#firstFrom(key);
    return this.#keys[index] === key ? this.rules[index] : undefined;
  }

  /** What is allowed on a path by its text. */
  accessTo(path: Uint8Array): Access {
    return this.find(path)?.access ?? 'deny';
  }

  /** Whether a rule allows something on a path or anything below it. */
  hasOpenWithin(path: Uint8Array): boolean {
    const key = toKey(path);
    const end = key === '' ? this.#keys.length : this.#firstFrom(key + BEHIND);
    return this.#openBefore[end]! > this.#openBefore[this.#firstFrom(key)]!;
  }

  /** The index of the first rule whose key is not before a text. */
  #firstFrom(text: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#keys[middle]! < text) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Things with normalized paths, parents before what is below them; those of one path stay in their order. */
export function* sortByPath<T extends { readonly path: Uint8Array }>(things: readonly T[]): Steps<T[]> {
  const byKey = new Map<string, T[]>();
  for (const thing of things) {
    const key = toKey(thing.path);
    const others = byKey.get(key);
    if (others === undefined) byKey.set(key, [thing]);
    else others.push(thing);
    yield;
  }
  const keys = yield* sort([...byKey.keys()]);
  return keys.flatMap((key) => byKey.get(key)!);
}

/**
 * A normalized path as text that sorts everything below it right behind it: the separator comes before all characters. The
 * two bytes that no name has change places for that. The root, which everything is below, is empty.
 */
function toKey(path: Uint8Array): string {
  if (path.length === 1) return '';
  const bytes = Buffer.from(path);
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === SLASH) bytes[at] = 0;
    else if (byte === 0) bytes[at] = SLASH;
  }
  return bytes.toString('latin1');
}

function isBelow(key: string, above: string): boolean {
  return key.length > above.length && key[above.length] === SEPARATOR && key.startsWith(above);
}

function countCommon(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}

function* sort(keys: readonly string[]): Steps<readonly string[]> {
  let runs: string[][] = [];
  for (let at = 0; at < keys.length; at += RUN_LENGTH) {
    runs.push(keys.slice(at, at + RUN_LENGTH).sort());
    yield;
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(yield* merge(runs[at]!, runs[at + 1] ?? []));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge(some: readonly string[], others: readonly string[]): Steps<string[]> {
  const merged: string[] = [];
  let at = 0;
  for (const key of some) {
    while (at < others.length && others[at]! < key) merged.push(others[at++]!);
    merged.push(key);
    yield;
  }
  for (; at < others.length; at++) merged.push(others[at]!);
  return merged;
}
