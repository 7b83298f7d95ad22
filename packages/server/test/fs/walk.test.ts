import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { nativeToPathUri } from '@exec-server/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type WalkOptions, walkTree } from '../../src/fs/walk.js';
import { makeTempDirectory } from '../support/temp-directory.js';

type Limits = Omit<WalkOptions, 'signal'>;

const WIDE: Limits = {
  maxDepth: 64,
  maxDirectories: 10_000,
  maxEntries: 50_000,
  followDirectorySymlinks: false,
  pruneHiddenDirectories: false,
};
const { signal } = new AbortController();

function walk(root: string, limits: Limits, signalOfCaller = signal) {
  const uri = nativeToPathUri(root);
  return walkTree({ path: Buffer.from(root), uri }, { ...limits, signal: signalOfCaller });
}

function leadsSomewhere(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch {
    return false;
  }
}

/** The rules once more, in the plainest way. */
function walkNaively(root: string, limits: Limits): { entries: string[]; truncated: boolean } {
  const entries: string[] = [];
  const visited = new Set([realpathSync(root)]);
  const queue = [{ path: root, depth: 0 }];
  let [truncated, examined, directories] = [false, 0, 1];
  for (const { path, depth } of queue) {
    const names = readdirSync(path).filter((name) => leadsSomewhere(join(path, name)));
    for (const name of names.sort()) {
      if (examined++ === limits.maxEntries) return { entries, truncated: true };
      const child = join(path, name);
      const isDirectory = statSync(child).isDirectory();
      if (lstatSync(child).isSymbolicLink() && !(isDirectory && limits.followDirectorySymlinks)) continue;
      entries.push(isDirectory ? `${child}/` : child);
      if (!isDirectory || depth === limits.maxDepth) continue;
      if (limits.pruneHiddenDirectories && name.startsWith('.')) continue;
      if (limits.followDirectorySymlinks) {
        if (visited.has(realpathSync(child))) continue;
        visited.add(realpathSync(child));
      }
      if (directories === limits.maxDirectories) truncated = true;
      else {
        directories++;
        queue.push({ path: child, depth: depth + 1 });
      }
    }
  }
  return { entries, truncated };
}

const name = fc.constantFrom('a', 'b', '.c', 'd e');
const place = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const node = fc.oneof(
  fc.record({ kind: fc.constant('directory' as const), place }),
  fc.record({ kind: fc.constant('file' as const), place }),
  fc.record({ kind: fc.constant('link' as const), place, target: fc.oneof(place, fc.constant('.')) }),
);
const limits = fc.record({
  maxDepth: fc.integer({ min: 0, max: 5 }),
  maxDirectories: fc.integer({ min: 1, max: 12 }),
  maxEntries: fc.integer({ min: 1, max: 30 }),
  followDirectorySymlinks: fc.boolean(),
  pruneHiddenDirectories: fc.boolean(),
});

it('finds what a naive walk finds, on trees with links and loops', async () => {
  const directory = await makeTempDirectory();
  await fc.assert(
    fc.asyncProperty(fc.array(node, { maxLength: 25 }), limits, async (nodes, drawn) => {
      const root = mkdtempSync(join(directory, 'root-'));
      for (const { kind, place, ...rest } of nodes) {
        try {
          mkdirSync(join(root, place, '..'), { recursive: true });
          if (kind === 'directory') mkdirSync(join(root, place));
          else if (kind === 'file') writeFileSync(join(root, place), '');
          else if ('target' in rest) symlinkSync(join(root, rest.target), join(root, place));
        } catch {
          // Something else is in its way.
        }
      }
      for (const options of [drawn, { ...WIDE, followDirectorySymlinks: drawn.followDirectorySymlinks }]) {
        const { entries, failures, truncated } = await walk(root, options);
        const expected = walkNaively(root, options);
        const shown = entries.map(({ uri, kind }) => {
          const path = decodeURIComponent(uri.slice('file://'.length));
          return kind === 'directory' ? `${path}/` : path;
        });
        expect({ entries: shown, truncated }).toEqual(expected);
        expect(failures).toEqual([]);
      }
    }),
    { numRuns: 100 },
  );
});

it('of a directory with many names, the first ones are examined', async () => {
  const root = await makeTempDirectory();
  for (let i = 0; i < 2_000; i++) writeFileSync(join(root, String((i * 7919) % 2_000).padStart(4, '0')), '');
  const { entries, truncated } = await walk(root, { ...WIDE, maxEntries: 3 });
  expect(entries.map(({ uri }) => uri.slice(-4))).toEqual(['0000', '0001', '0002']);
  expect(truncated).toBe(true);
});

it('stops when nobody waits for it any more', async () => {
  const root = await makeTempDirectory();
  for (let i = 0; i < 3_000; i++) writeFileSync(join(root, String(i)), '');
  const controller = new AbortController();
  const walking = walk(root, WIDE, controller.signal);
  controller.abort();
  await expect(walking).rejects.toHaveProperty('name', 'AbortError');
});
