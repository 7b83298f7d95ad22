import { EINVAL } from '../../native/constants.js';
import { OsError } from '../../os-error.js';

/** A word of a plan for the sandbox program; `packages/server/sandbox/sandbox.c` says what the words mean. */
export type Word = string | number | Uint8Array;

/**
 * A plan as the sandbox program reads it. Throws EINVAL for a zero inside of a word: it would end the word, and what
 * follows would be read as another step.
 */
export function encodePlan(words: readonly Word[]): Buffer {
  const parts = words.map((word) => (typeof word === 'object' ? word : Buffer.from(String(word))));
  const plan = Buffer.alloc(parts.reduce((total, { length }) => total + length + 1, 0));
  let end = 0;
  for (const part of parts) {
    if (part.includes(0)) throw new OsError(EINVAL, 'execve');
    plan.set(part, end);
    end += part.length + 1;
  }
  return plan;
}

/** A list of a plan: its length, and what is in it. */
export function listWords(words: readonly Word[]): Word[] {
  return [words.length, ...words];
}
