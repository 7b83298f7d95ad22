import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { skipFor } from '@exec-server/testing';
import { expect, it } from 'vitest';

const BUILT = fileURLToPath(new URL('../../dist/native/mount-changes.js', import.meta.url));

/** Runs a script where it may mount, and nobody else sees it. */
const IN_OWN_NAMESPACE = [
  '--user',
  '--map-root-user',
  '--mount',
  process.execPath,
  '--input-type=module',
  '-e',
];

it('counts another number when something was mounted or unmounted, and the same one otherwise', (test) => {
  if (spawnSync('unshare', [...IN_OWN_NAMESPACE, '']).status !== 0) skipFor(test, 'namespaces');
  const script = `
    import { execFileSync } from 'node:child_process';
    import { countMountChanges } from ${JSON.stringify(BUILT)};
    const counts = [countMountChanges(), countMountChanges()];
    execFileSync('mount', ['-t', 'tmpfs', 'none', '/mnt']);
    counts.push(countMountChanges(), countMountChanges());
    execFileSync('umount', ['/mnt']);
    counts.push(countMountChanges());
    // Several at once are seen as well as one.
    for (let index = 0; index < 3; index++) execFileSync('mount', ['-t', 'tmpfs', 'none', '/mnt']);
    counts.push(countMountChanges(), countMountChanges());
    console.log(JSON.stringify(counts));
  `;
  const output = execFileSync('unshare', [...IN_OWN_NAMESPACE, script], { encoding: 'utf8' });
  expect(JSON.parse(output)).toEqual([0, 0, 1, 1, 2, 3, 3]);
});
