import { UsageError } from './usage-error.js';

const MAX_U64 = 2n ** 64n - 1n;
const TRUTH_TEXTS = ['true', 'false'] as const;

/** A kind of value: how the text behind a flag, and a value of the configuration file, become one of it. */
export interface ValueKind<Value> {
  /** What a value has to be, in words for people. */
  readonly expected: string;
  /** Whether the flag has no value, one, or one each time it is given. */
  readonly arity: 'none' | 'one' | 'many';
  /** All texts that can stand behind the flag, where they are few. */
  readonly choices?: readonly string[];
  /** Throws a {@link UsageError} that names `flags`. */
  fromText(text: string, flags: string): Value;
  /** The value, or nothing when it is something else. */
  fromConfig(value: unknown): Value | undefined;
}

export const text: ValueKind<string> = {
  expected: 'a string',
  arity: 'one',
  fromText: (value) => value,
  fromConfig: (value) => (typeof value === 'string' ? value : undefined),
};

/** Texts that are collected; an array in the configuration file. */
export const textList: ValueKind<readonly string[]> = {
  expected: 'an array of strings',
  arity: 'many',
  fromText: (value) => [value],
  fromConfig: (value) =>
    Array.isArray(value) && value.every((element) => typeof element === 'string') ? value : undefined,
};

export function choice<Choice extends string>(choices: readonly Choice[]): ValueKind<Choice> {
  const find = (value: unknown) => choices.find((candidate) => candidate === value);
  return {
    expected: choices.map((candidate) => `"${candidate}"`).join(' or '),
    arity: 'one',
    choices,
    fromText: (value, flags) => find(value) ?? refuseChoice(value, flags, choices),
    fromConfig: find,
  };
}

/** Yes or no, where neither is said by leaving it out. */
export const truth: ValueKind<boolean> = {
  expected: 'true or false',
  arity: 'one',
  choices: TRUTH_TEXTS,
  fromText: (value, flags) => {
    if (value === 'true' || value === 'false') return value === 'true';
    return refuseChoice(value, flags, TRUTH_TEXTS);
  },
  fromConfig: (value) => (typeof value === 'boolean' ? value : undefined),
};

/** Off unless it is given. */
export const presence: ValueKind<boolean> = {
  expected: 'true or false',
  arity: 'none',
  fromText: () => true,
  fromConfig: (value) => truth.fromConfig(value),
};

/** A whole number from 0. Numbers beyond what JavaScript counts exactly are as good as endless, and cut. */
export const count: ValueKind<number> = {
  expected: 'a whole number',
  arity: 'one',
  fromText: (value, flags) => {
    const refuse = (why: string) => new UsageError(`invalid value '${value}' for '${flags}': ${why}`);
    if (value === '') throw refuse('cannot parse integer from empty string');
    if (!/^\+?\d+$/.test(value)) throw refuse('invalid digit found in string');
    const number = BigInt(value.replace('+', ''));
    if (number > MAX_U64) throw refuse('number too large to fit in target type');
    return toCount(number);
  },
  fromConfig: (value) => (typeof value === 'bigint' && value >= 0n ? toCount(value) : undefined),
};

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** What durations look like, for help. */
export const DURATION_HELP = '500ms, 30s, 5m, 2h, 1d; a bare number is seconds';

/** A duration in milliseconds, such as `1.5s`; a string in the configuration file. */
export const duration: ValueKind<number> = {
  expected: 'a string with a duration, such as "30s"',
  arity: 'one',
  fromText: (value, flags) => {
    const durationMs = toDurationMs(value);
    if (durationMs !== undefined) return durationMs;
    throw new UsageError(
      `invalid value '${value}' for '${flags}': expected a duration, such as ${DURATION_HELP}`,
    );
  },
  fromConfig: (value) => (typeof value === 'string' ? toDurationMs(value) : undefined),
};

function toDurationMs(text: string): number | undefined {
  const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? [];
  return amount === undefined ? undefined : Math.round(Number(amount) * (UNIT_MS[unit] ?? 1));
}

/** A whole number from 1. */
export const positiveCount: ValueKind<number> = {
  expected: 'a whole number from 1',
  arity: 'one',
  fromText: (value, flags) => {
    const number = count.fromText(value, flags);
    if (number > 0) return number;
    throw new UsageError(`invalid value '${value}' for '${flags}': number would be zero for non-zero type`);
  },
  fromConfig: (value) => (value === 0n ? undefined : count.fromConfig(value)),
};

function toCount(number: bigint): number {
  return Number(number > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : number);
}

function refuseChoice(value: string, flags: string, choices: readonly string[]): never {
  throw new UsageError(`invalid value '${value}' for '${flags}'\n  [possible values: ${choices.join(', ')}]`);
}
