import { writeSync } from 'node:fs';
import { requireProgram } from '@exec-server/testing';
import { describe, expect, test } from 'vitest';
import { applyDifferences } from './apply-differences.js';
import { playScenario } from './runner.js';
import { LATER, NEEDS } from './scenarios.js';
import { listScenarios, loadTranscript } from './transcript.js';

/** Another server to play against, such as the one that was recorded; then nothing differs and nothing is later. */
const command = process.env.CONFORMANCE_COMMAND?.split(' ');

const STDOUT = 1;

function report(scenario: string, outcome: string): void {
  // Past the runner's capture, so that a scenario is one line.
  writeSync(STDOUT, `conformance ${scenario}: ${outcome}\n`);
}

describe('conformance', () => {
  for (const scenario of listScenarios()) {
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
      const failures = await playScenario(scenario, lines, command === undefined ? {} : { command });
      const note =
        differences === 0 ? '' : ` (${differences} expected difference${differences === 1 ? '' : 's'})`;
      report(scenario, failures.length === 0 ? `ok${note}` : `FAILED (${failures.length})`);
      expect(failures).toEqual([]);
    });
  }
});
