import { expect, it } from 'vitest';
import {
  CapabilitiesDiscoverParams,
  CapabilitiesDiscoverResult,
  CapabilityRootsDiscoverParams,
  decodeParams,
  decodeResult,
} from '../../src/index.js';
import { problemOf } from './problem-of.js';

const cwd = 'file:///tmp';

it('discovers capabilities', () => {
  expect(decodeParams(CapabilitiesDiscoverParams, [cwd])).toEqual({ cwd });
  expect(decodeParams(CapabilitiesDiscoverParams, { cwd, sandbox: null })).toEqual({ cwd });
  expect(problemOf(CapabilitiesDiscoverParams, { cwd, sandbox: 5 })).toBe(
    'invalid type: number, expected struct FileSystemSandboxContext',
  );
  expect(problemOf(CapabilityRootsDiscoverParams, { roots: [{ id: 'x' }] })).toBe('missing field `path`');
  expect(problemOf(CapabilityRootsDiscoverParams, [[['a', cwd]]])).toBe(
    'invalid length 2, expected struct WireCapabilityRootDiscoverRequest with 3 elements',
  );
  const skill = {
    name: 's',
    description: 'd',
    shortDescription: null,
    path: cwd,
    dependencies: null,
    policy: null,
  };
  const result = {
    plugins: [
      {
        id: 'p@m',
        displayName: 'p',
        remotePluginId: null,
        version: '1',
        root: cwd,
        skills: [skill],
        files: { manifest: { path: cwd, contents: '{}' }, mcpConfig: null, appsConfig: null },
      },
    ],
    skills: [{ ...skill, discoveryRoot: { id: 'user-agent-skills', path: cwd } }],
    warnings: [],
  };
  expect(decodeResult(CapabilitiesDiscoverResult, result)).toEqual(result);
});
