import { describe, expect, it } from 'vitest';
import { findSnapshotShell } from '../../src/shell-snapshot/snapshot-request.js';

const LOGIN = ['/bin/bash', '-lc', 'true'];
const find = (argv: readonly string[], scopeId = 's', name = 'bash', path = '/bin/bash') =>
  findSnapshotShell({ scopeId, shell: { name, path } }, argv);

describe('a wish for a snapshot', () => {
  it.each(['bash', 'zsh', 'sh'])('of %s is granted', (name) => {
    expect(find(LOGIN, 's', name)).toBe(name);
    expect(find([...LOGIN, 'zero', 'one'], 's', name)).toBe(name);
  });

  it.each([[['/bin/bash', '-c', 'true']], [['/bin/bash', '-lc']], [['/bin/sh', '-lc', 'true']], [[]]])(
    'does not concern %j',
    (argv) => {
      expect(find(argv, 's', 'fish')).toBeUndefined();
    },
  );

  it('is refused for other shells', () => {
    expect(() => find(LOGIN, 's', 'fish')).toThrow('shell snapshots are unsupported for shell `fish`');
  });

  it.each([
    [0, false],
    [1, true],
    [255, true],
    [256, true],
    [257, false],
  ])('with a scope of %i bytes', (bytes, granted) => {
    const message = 'shell snapshot scope must be non-empty and at most 256 bytes';
    if (granted) expect(find(LOGIN, 'x'.repeat(bytes))).toBe('bash');
    else {
      expect(() => find(LOGIN, 'x'.repeat(bytes))).toThrow(message);
      // Whatever the command is.
      expect(() => find([], 'x'.repeat(bytes))).toThrow(message);
    }
    if (bytes === 256) expect(() => find(LOGIN, 'é'.repeat(129))).toThrow(message);
  });
});
