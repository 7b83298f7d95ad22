import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { describeEnvironment } from '../../src/environment/info.js';
import { hasMemoryFiles } from '../../src/native/memory-file.js';

describe('environment info', () => {
  it('names the shell of the user database, whatever $SHELL says', () => {
    const { shell } = describeEnvironment({ SHELL: '/bin/fakeshell' });
    expect(shell.path).toBe(userInfo().shell);
  });

  it('names the host the same way every time, without giving it away', () => {
    const { providerId } = describeEnvironment({});
    expect(providerId).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(describeEnvironment({ A: '1' }).providerId).toBe(providerId);
  });

  it.each([
    [{}, [], 'file:///tmp'],
    [{ TMPDIR: '/var/tmp' }, ['file:///var/tmp'], 'file:///var/tmp'],
    [{ TMPDIR: '' }, [], 'file:///tmp'],
  ])('temporary directories of %o', (env, temporaryDirectories, tempDir) => {
    expect(describeEnvironment(env)).toMatchObject({ temporaryDirectories, tempDir });
  });
});

it('names the home directory of the environment that it serves with', () => {
  expect(describeEnvironment({ HOME: '/home/somebody' }).userHomeDir).toBe('file:///home/somebody');
});

it('promises what works here', () => {
  const { capabilities } = describeEnvironment({});
  expect(capabilities).toMatchObject({
    environmentConfigRead: true,
    capabilityDiscoveryV2: true,
    capabilityDiscoverySandbox: false,
    shellSnapshotV2: hasMemoryFiles(),
  });
});
