import type { Line, NumberedLine } from './transcript.js';

export interface ExpectedDifference {
  readonly scenario: string;
  /** First and last line of the recording that read otherwise here. */
  readonly lines: readonly [first: number, last: number];
  /** The row of docs/compatibility.md that explains it. */
  readonly topic: string;
  /** What happens instead. */
  readonly instead: readonly Line[];
}

export const EXPECTED_DIFFERENCES: readonly ExpectedDifference[] = [];

export function applyDifferences(
  scenario: string,
  lines: readonly NumberedLine[],
): { lines: NumberedLine[]; count: number } {
  return { lines: [...lines], count: 0 };
}
