import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { applyDifferences, DIFFERENCES } from './apply-differences.js';
import { ADDED_CAPABILITIES, INITIALIZE_ADDITION } from './expected-differences.js';
import { LATER, NEEDS, OURS_ALONE } from './scenarios.js';
import { listScenarios, loadTranscript } from './transcript.js';

/** The first cell of every table row in docs/compatibility.md. */
const documentedTopics = readFileSync(new URL('../../docs/compatibility.md', import.meta.url), 'utf8')
  .split('\n')
  .map((line) => /^\| (.+?) +\|/.exec(line)?.[1]);

test.each(listScenarios())('the differences of %s fit their recording', (scenario) => {
  const recorded = loadTranscript(scenario);
  const { lines, differences } = applyDifferences(scenario, recorded);
  expect(differences > 0).toBe(JSON.stringify(lines) !== JSON.stringify(recorded));
});

test('differences and what else is said of scenarios name scenarios that exist', () => {
  const known = listScenarios();
  for (const { scenario } of DIFFERENCES) expect(known).toContain(scenario);
  for (const scenario of Object.keys({ ...LATER, ...NEEDS, ...OURS_ALONE }))
    expect(known).toContain(scenario);
});

test('every difference has its row in docs/compatibility.md', () => {
  const topics = new Set([...DIFFERENCES, INITIALIZE_ADDITION, ADDED_CAPABILITIES].map(({ topic }) => topic));
  for (const topic of topics) expect(documentedTopics).toContain(topic);
});
