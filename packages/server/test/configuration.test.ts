import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeOptions } from '../src/configuration.js';
import { openAppClient } from './support/app-client.js';
import { openServer } from './support/session.js';

it('a server that says nothing of its settings tells of its options', async () => {
  const env = { SECRET: 'not for clients' };
  const wire = await openAppClient(openServer({ maxProcesses: 7, disabledCapabilities: ['fsWatch'], env }));
  const { result } = await wire.request('config/read', { includeLayers: true });
  expect(result).toMatchObject({
    config: { max_processes: 7, disabled_capabilities: ['fsWatch'], spill_directory: null },
    origins: {
      max_processes: { name: { type: 'sessionFlags' } },
      detached_session_ms: { name: { type: 'packagedDefaults' } },
    },
    layers: [{ config: { max_processes: 7, disabled_capabilities: ['fsWatch'] } }, {}],
  });
  expect(JSON.stringify(result)).not.toContain(env.SECRET);
});

it('defaults are where they are said to be', () => {
  const [defaults, given] = describeOptions({});
  expect(given?.settings).toEqual({});
  expect(defaults?.settings).toMatchObject({ concurrentRequests: 64, disabledCapabilities: [] });
  // The sources stand for the build here.
  const file = defaults?.source.kind === 'defaults' ? defaults.source.file.replace(/\.js$/, '.ts') : '';
  expect(existsSync(file)).toBe(true);
});
