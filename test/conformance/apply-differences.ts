import { isDeepStrictEqual } from 'node:util';
import { ANSWERED_CLOSE_CODE, APP_DIFFERENCES } from './app-differences.js';
import {
  ADDED_CAPABILITIES,
  EXPECTED_DIFFERENCES,
  type ExpectedDifference,
  INITIALIZE_ADDITION,
} from './expected-differences.js';
import { isObject } from './matching.js';
import { isAppScenario, type Line, type NumberedLine } from './transcript.js';

/** All places where this server differs. */
export const DIFFERENCES = [...EXPECTED_DIFFERENCES, ...APP_DIFFERENCES];

export interface ExpectedRecording {
  readonly lines: readonly NumberedLine[];
  /** How many differences went into it. */
  readonly differences: number;
}

/** The recording as it would read if this server had been recorded. */
export function applyDifferences(scenario: string, recorded: readonly NumberedLine[]): ExpectedRecording {
  const differences = DIFFERENCES.filter((difference) => difference.scenario === scenario);
  const edited = differences.reduce(replaceLines, recorded);
  const adapt = isAppScenario(scenario) ? answerClose : addMembers;
  const lines = edited.map(({ number, line }) => ({ number, line: adapt(line) }));
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

/** A client that closes its connection gets an answer here. */
function answerClose(line: Line): Line {
  if ('dir' in line || line.event !== 'close') return line;
  return { ...line, code: ANSWERED_CLOSE_CODE };
}

/** Adds what results carry here beside the recorded members. */
function addMembers(line: Line): Line {
  if (!('dir' in line) || line.dir !== 's2c' || line.msg.result === undefined) return line;
  const { result } = line.msg;
  const info = result.environmentInfo;
  const extended = isObject(info)
    ? { ...result, ...INITIALIZE_ADDITION.members, environmentInfo: addCapabilities(info) }
    : addCapabilities(result);
  return extended === result ? line : { ...line, msg: { ...line.msg, result: extended } };
}

function addCapabilities(info: Record<string, unknown>): Record<string, unknown> {
  const { capabilities } = info;
  if (!isObject(capabilities)) return info;
  return { ...info, capabilities: { ...capabilities, ...ADDED_CAPABILITIES.members } };
}
