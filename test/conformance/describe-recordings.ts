import { writeSync } from 'node:fs';
import { requireProgram, type ServerBanner } from '@exec-server/testing';
import { describe, expect, test } from 'vitest';
import { applyDifferences } from './apply-differences.js';
import { playScenario } from './runner.js';
import { LATER, NEEDS, OURS_ALONE } from './scenarios.js';
import type { PlayOptions } from './servers.js';
import { isAppScenario, isV0Scenario, listScenarios, loadTranscript } from './transcript.js';

/** Other servers to play against, such as those that were recorded; then nothing differs and nothing is later. */
const execCommand = process.env.CONFORMANCE_COMMAND?.split(' ');
const appCommand = process.env.CONFORMANCE_APP_COMMAND?.split(' ');
const playsOthers = execCommand !== undefined || appCommand !== undefined;

/** The app-server says it in the middle of what people read. */
const APP_BANNER: ServerBanner = { stream: 'stderr', pattern: /listening on: (ws:\S+)\n/ };

const STDOUT = 1;

function report(scenario: string, outcome: string): void {
  // Past the runner's capture, so that a scenario is one line.
  writeSync(STDOUT, `conformance ${scenario}: ${outcome}\n`);
}

function optionsFor(scenario: string, command: readonly string[] | undefined): PlayOptions {
  if (command === undefined) return {};
  return isAppScenario(scenario) ? { command, banner: APP_BANNER } : { command };
}

/** A test per recording that is wanted. */
export function describeRecordings(title: string, isWanted: (scenario: string) => boolean): void {
  describe(title, () => {
    for (const scenario of listScenarios().filter(isWanted)) {
      const command = isAppScenario(scenario) ? appCommand : execCommand;
      const isOursAlone = OURS_ALONE[scenario] !== undefined || isV0Scenario(scenario);
      if (playsOthers && (command === undefined || isOursAlone)) continue;
      test(scenario, async (context) => {
        const later = LATER[scenario];
        if (later !== undefined && command === undefined) {
          report(scenario, `later (${later})`);
          context.skip(`later: ${later}`);
        }
        const needed = NEEDS[scenario];
        if (needed !== undefined) requireProgram(needed, context);

        const recorded = loadTranscript(scenario);
        const { lines, differences } =
          command === undefined ? applyDifferences(scenario, recorded) : { lines: recorded, differences: 0 };
        const failures = await playScenario(scenario, lines, optionsFor(scenario, command));
        const note =
          differences === 0 ? '' : ` (${differences} expected difference${differences === 1 ? '' : 's'})`;
        report(scenario, failures.length === 0 ? `ok${note}` : `FAILED (${failures.length})`);
        expect(failures).toMatchObject([]);
      });
    }
  });
}
