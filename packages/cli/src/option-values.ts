import { Option } from 'commander';
import { UsageError } from './usage-error.js';

const MAX_U64 = 2n ** 64n - 1n;

type ReadValue<Value> = (text: string, flags: string) => Value;

/** An option with a value that may be given once. */
export function singleOption<Value>(flags: string, description: string, read: ReadValue<Value>): Option {
  return new Option(flags, description).argParser<Value>((text, earlier) => {
    if (earlier !== undefined)
      throw new UsageError(`the argument '${flags}' cannot be used multiple times`, true);
    return read(text, flags);
  });
}

/** An option that may be given several times; its values are collected. */
export function repeatableOption(flags: string, description: string): Option {
  return new Option(flags, `${description} (repeatable)`).argParser<string[] | undefined>(
    (text, earlier = []) => [...earlier, text],
  );
}

export const readText: ReadValue<string> = (text) => text;

export function readChoice<Choice extends string>(choices: readonly Choice[]): ReadValue<Choice> {
  return (text, flags) => {
    const choice = choices.find((candidate) => candidate === text);
    if (choice !== undefined) return choice;
    throw new UsageError(
      `invalid value '${text}' for '${flags}'\n  [possible values: ${choices.join(', ')}]`,
    );
  };
}

/** A whole number from 0. Numbers beyond what JavaScript counts exactly are as good as endless, and cut. */
export const readCount: ReadValue<number> = (text, flags) => {
  const refuse = (why: string) => new UsageError(`invalid value '${text}' for '${flags}': ${why}`);
  if (text === '') throw refuse('cannot parse integer from empty string');
  if (!/^\+?\d+$/.test(text)) throw refuse('invalid digit found in string');
  const value = BigInt(text.replace('+', ''));
  if (value > MAX_U64) throw refuse('number too large to fit in target type');
  return Math.min(Number(value), Number.MAX_SAFE_INTEGER);
};

/** A whole number from 1. */
export const readPositiveCount: ReadValue<number> = (text, flags) => {
  const value = readCount(text, flags);
  if (value > 0) return value;
  throw new UsageError(`invalid value '${text}' for '${flags}': number would be zero for non-zero type`);
};
