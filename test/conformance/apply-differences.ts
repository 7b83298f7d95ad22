import { isDeepStrictEqual } from 'node:util';
import {
  EXPECTED_DIFFERENCES,
  type ExpectedDifference,
  INITIALIZE_ADDITION,
} from './expected-differences.js';
import { isObject } from './matching.js';
import type { Line, NumberedLine } from './transcript.js';

export interface ExpectedRecording {
  readonly lines: readonly NumberedLine[];
  /** How many differences went into it. */
  readonly differences: number;
}

/** The recording as it would read if this server had been recorded. */
export function applyDifferences(scenario: string, recorded: readonly NumberedLine[]): ExpectedRecording {
  const differences = EXPECTED_DIFFERENCES.filter((difference) => difference.scenario === scenario);
  const edited = differences.reduce(replaceLines, recorded);
  const lines = edited.map(({ number, line }) => ({ number, line: addToInitialize(line) }));
  const additions = lines.some(({ line }, index) => line !== edited[index]?.line) ? 1 : 0;
  return { lines, differences: differences.length + additions };
}

function replaceLines(recorded: readonly NumberedLine[], difference: ExpectedDifference): NumberedLine[] {
  const { scenario, lines, instead } = difference;
  const [first, last] = lines;
  const replaced = recorded.filter(({ number }) => number >= first && number <= last).map(({ line }) => line);
  if (replaced.length !== last - first + 1 || isDeepStrictEqual(replaced, instead)) {
    throw new Error(
      `the expected difference in ${scenario}, lines ${first} to ${last}, differs from nothing`,
    );
  }
  const at = recorded.findIndex(({ number }) => number === first);
  return recorded.toSpliced(at, replaced.length, ...instead.map((line) => ({ number: first, line })));
}

function addToInitialize(line: Line): Line {
  if (!('dir' in line) || line.dir !== 's2c' || !isObject(line.msg.result?.environmentInfo)) return line;
  const result = { ...line.msg.result, ...INITIALIZE_ADDITION.members };
  return { ...line, msg: { ...line.msg, result } };
}
