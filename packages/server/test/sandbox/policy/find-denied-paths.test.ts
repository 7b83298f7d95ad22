import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { Clock } from '../../../src/clock.js';
import {
  findDeniedPaths,
  MAX_DENIED_PATHS,
  MAX_PATTERNS_CHARACTERS,
  MAX_SCAN_MS,
  MAX_SCANNED_ENTRIES,
} from '../../../src/sandbox/policy/find-denied-paths.js';
import { resolvePolicy } from '../../../src/sandbox/policy/resolve-policy.js';
import { FakeClock } from '../../support/fake-clock.js';
import { pattern, READ_ROOT, sandboxOf } from '../../support/sandbox.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

async function find(
  directory: string,
  texts: string | readonly string[],
  { depth, clock }: { readonly depth?: number; readonly clock?: Clock } = {},
): Promise<string[]> {
  const context = sandboxOf(
    [READ_ROOT, ...[texts].flat().map((text) => pattern(`${directory}/${text}`, 'deny'))],
    depth === undefined ? {} : { depth },
  );
  const { files } = await resolvePolicy(context, { temporaryDirectories: [] });
  if (files === 'unrestricted') throw new Error('the policy does not restrict files');
  const found = await findDeniedPaths(files, clock);
  return found.map((path) => relative(directory, path.toString())).sort();
}

it('finds what exists, at most so deep, and nothing below what it found', async () => {
  const directory = await makeTempDirectory();
  await mkdir(join(directory, 'a/b'), { recursive: true });
  await mkdir(join(directory, 'x.env/inner.env'), { recursive: true });
  for (const name of ['top.env', 'a/one.env', 'a/b/two.env']) await writeFile(join(directory, name), '');
  await symlink('/', join(directory, 'everything'));

  expect(await find(directory, '**/*.env')).toEqual(['a/b/two.env', 'a/one.env', 'top.env', 'x.env']);
  expect(await find(directory, '**/*.env', { depth: 3 })).toEqual([
    'a/b/two.env',
    'a/one.env',
    'top.env',
    'x.env',
  ]);
  expect(await find(directory, '**/*.env', { depth: 2 })).toEqual(['a/one.env', 'top.env', 'x.env']);
  expect(await find(directory, '**/*.env', { depth: 1 })).toEqual(['top.env', 'x.env']);
  expect(await find(directory, 'missing/*')).toEqual([]);
});

it('refuses to hide more than it can', async () => {
  const directory = await makeTempDirectory();
  const names = Array.from({ length: MAX_DENIED_PATHS + 1 }, (_, index) => join(directory, `${index}`));
  const [last = '', ...rest] = names;
  for (const name of rest) await writeFile(name, '');
  expect(await find(directory, '*')).toHaveLength(MAX_DENIED_PATHS);
  await writeFile(last, '');
  await expect(find(directory, '*')).rejects.toMatchObject({ failure: 'unenforceable' });
});

it('refuses to look at more than it can', async () => {
  const directory = await makeTempDirectory();
  const [many, few] = [1_000, MAX_SCANNED_ENTRIES / 1_000];
  for (const name of ['large', 'small']) await mkdir(join(directory, name));
  for (let index = 0; index < many; index++) await writeFile(join(directory, `large/${index}`), '');
  const add = (index: number) => writeFile(join(directory, `small/${index}`), '');
  // A directory is listed once for all patterns that start there; by other names it is another one.
  const names = Array.from({ length: few - 1 }, (_, index) => `link-${index}`);
  for (const name of names) await symlink('large', join(directory, name));
  const patterns = names.flatMap((name) => [`${name}/none*`, `${name}/neither*`]);
  const look = () => find(directory, [...patterns, 'small/none*']);
  for (let index = 1; index < many; index++) await add(index);
  expect(await look()).toEqual([]);
  await add(many);
  expect(await look()).toEqual([]);
  await add(many + 1);
  await expect(look()).rejects.toThrow(`more than ${MAX_SCANNED_ENTRIES} entries`);
});

it('finds by several patterns what each of them finds', async () => {
  const directory = await makeTempDirectory();
  for (const name of ['a/b', 'a/c/d', 'e']) await mkdir(join(directory, name), { recursive: true });
  for (const name of ['a/b/1.key', 'a/c/2.pem', 'a/c/d/3.key', 'e/4.pem', '5.key'])
    await writeFile(join(directory, name), '');
  const patterns = ['**/*.key', '*/*.pem', 'a/**/2.*', 'a/c', '{e,x}/**'];
  // What is below a match is found where another pattern starts below it.
  const expected = ['5.key', 'a/b/1.key', 'a/c', 'a/c/d/3.key', 'e'];
  expect(await find(directory, patterns)).toEqual(expected);
  expect(await find(directory, patterns.toReversed())).toEqual(expected);
});

/** Makes directories one in the other, until their path is longer than the kernel takes. */
function makeTooDeep(directory: string): void {
  const script = `
    for (let level = 0; level < 25; level++) {
      fs.mkdirSync('${'d'.repeat(200)}');
      process.chdir('${'d'.repeat(200)}');
    }
  `;
  execFileSync(process.execPath, ['-e', script], { cwd: directory });
}

it('does not look where no pattern can match, and refuses where it cannot look', async () => {
  const directory = await makeTempDirectory();
  await mkdir(join(directory, 'a/deep'), { recursive: true });
  makeTooDeep(join(directory, 'a/deep'));
  onTestFinished(() => void execFileSync('rm', ['-r', join(directory, 'a/deep')]));
  await writeFile(join(directory, 'a/x.env'), '');
  const cannotLook = {
    failure: 'unenforceable',
    message: expect.stringContaining('cannot be looked up in') as string,
  };
  await expect(find(directory, '**/*.env')).rejects.toMatchObject(cannotLook);
  await expect(find(directory, 'a/**/d*/*.env')).rejects.toMatchObject(cannotLook);
  for (const text of ['*/*.env', '*/x.env/**', 'a/[!d]*', '**/{deep,x.env}'])
    expect(await find(directory, text)).toContain('a/x.env');
  for (const text of ['a/none/**', 'a/[!d]*/**/*.env', '*/none/**/*.env'])
    expect(await find(directory, text)).toEqual([]);
  expect(await find(directory, '**/*.env', { depth: 5 })).toEqual(['a/x.env']);
});

it('looks at many names for patterns that take long, and lets others have their turn', async () => {
  const directory = await makeTempDirectory();
  const names = Array.from({ length: 200 }, (_, index) => `${'a'.repeat(240)}${index}`);
  for (const name of names) await writeFile(join(directory, name), '');
  const patterns = Array.from({ length: 10 }, (_, index) => `**/${'*a'.repeat(100)}*b${index}`);
  let isOver = false;
  const found = find(directory, patterns).finally(() => (isOver = true));
  let turns = 0;
  for (; !isOver; turns++) await setImmediate();
  expect(await found).toEqual([]);
  // 2,000 matches of 24,000 comparisons and more are many slices.
  expect(turns).toBeGreaterThan(20);
});

it.each([
  [MAX_SCAN_MS - 1, true],
  [MAX_SCAN_MS, false],
])('has time until %i ms are over: %s', async (ms, isInTime) => {
  const directory = await makeTempDirectory();
  await writeFile(join(directory, 'x.env'), '');
  const clock = new FakeClock();
  const found = find(directory, '*.env', { clock });
  while (clock.pendingTimers === 0) await setImmediate();
  clock.advance(ms);
  if (isInTime) expect(await found).toEqual(['x.env']);
  else await expect(found).rejects.toThrow(`longer than ${MAX_SCAN_MS} ms`);
  expect(clock.pendingTimers).toBe(0);
});

it.each([
  [-1, true],
  [0, true],
  [1, false],
])('takes patterns of %i characters more than the limit for all together: %s', async (more, isTaken) => {
  const directory = await makeTempDirectory();
  const length = 1_024;
  const last = length + more;
  const patterns = Array.from(
    { length: MAX_PATTERNS_CHARACTERS / length - 1 },
    () => `*${'x'.repeat(length - 1)}`,
  );
  const found = find(directory, [...patterns, `*${'x'.repeat(last - 1)}`]);
  if (isTaken) expect(await found).toEqual([]);
  else await expect(found).rejects.toThrow(`more than ${MAX_PATTERNS_CHARACTERS} characters`);
});
