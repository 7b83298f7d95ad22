import { completeLength, decodeText, severedLength } from '../process/utf8.js';
import { BYTES_PER_TOKEN } from './limits.js';

/** What a reply may show of the output. */
export interface OutputBudget {
  readonly bytes: number;
  /** What the mark counts: the caller asks in tokens, the limit of a model is told in characters. */
  readonly unit: 'tokens' | 'chars';
}

/** How many tokens so many bytes count as. */
export function countTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Keeps the beginning and the end of a text that is too long, in whole characters, with a mark between them. */
export function truncateMiddle(text: string, { bytes: budget, unit }: OutputBudget): string {
  const encoded = new TextEncoder().encode(text);
  if (encoded.length <= budget) return text;
  const headBytes = Math.floor(budget / 2);
  const head = encoded.subarray(0, headBytes);
  const tail = encoded.subarray(encoded.length - (budget - headBytes));
  const before = decodeText(head.subarray(0, completeLength(head)));
  const after = decodeText(tail.subarray(severedLength(tail)));
  const missing =
    unit === 'tokens'
      ? countTokens(encoded.length - budget)
      : countCharacters(text) - countCharacters(before) - countCharacters(after);
  return `${before}…${missing} ${unit} truncated…${after}`;
}

/** Lines as `wc` and editors count them together: a last one without its end counts too. */
export function countLines(text: string): number {
  let lines = 0;
  for (let index = text.indexOf('\n'); index !== -1; index = text.indexOf('\n', index + 1)) lines++;
  return text === '' || text.endsWith('\n') ? lines : lines + 1;
}

function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
