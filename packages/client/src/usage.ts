import { ExecServerError } from './errors.js';

/** The caller made a mistake; the call was not carried out. */
export function usageError(message: string): ExecServerError {
  return new ExecServerError('usage', message);
}

/** Refuses what would arrive as another number than it was, or as none. */
export function requireWholeNumber(name: string, value: number | undefined, least = 0): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return;
  throw usageError(`\`${name}\` must be a whole number of at least ${least}`);
}

/** Refuses a word that would be taken for another one. */
export function requireOneOf(name: string, value: unknown, words: readonly unknown[]): void {
  if (value === undefined || words.includes(value)) return;
  throw usageError(`\`${name}\` must be ${words.map((word) => JSON.stringify(word)).join(' or ')}`);
}
