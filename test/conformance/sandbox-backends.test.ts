import { fileURLToPath } from 'node:url';
import { requireProgram } from '@exec-server/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { requireBackend, VIEW_BACKENDS } from '../../packages/server/test/support/sandbox.js';
import { applyDifferences } from './apply-differences.js';
import { playScenario } from './runner.js';
import { NEEDS } from './scenarios.js';
import { loadTranscript } from './transcript.js';

const BUILT_SERVER = fileURLToPath(new URL('../../packages/cli/bin/exec-server.js', import.meta.url));

/** Recordings with sandboxes in them. */
const SCENARIOS = ['34-process-sandbox', '36-network-policy', '60-fs-sandbox'];

describe.each(VIEW_BACKENDS)('recordings by %s', (backend) => {
  beforeEach(async (context) => {
    await requireBackend(context, backend);
    for (const name of SCENARIOS) if (NEEDS[name] !== undefined) requireProgram(NEEDS[name], context);
  });

  test.each(SCENARIOS)('%s', async (scenario) => {
    const { lines } = applyDifferences(scenario, loadTranscript(scenario));
    const command = [process.execPath, BUILT_SERVER, '--sandbox-backend', backend];
    expect(await playScenario(scenario, lines, { command })).toEqual([]);
  });
});
