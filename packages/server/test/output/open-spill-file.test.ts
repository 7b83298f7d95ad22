import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { discardSpillFile, openSpillFile, SpillError } from '../../src/output/open-spill-file.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'spill-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
});

async function openIn(directory: string | undefined, processId = 'p') {
  const spill = await openSpillFile({ directory, limitBytes: 10, processId });
  onTestFinished(async () => {
    spill.closed();
    await spill.finished;
  });
  return spill.state.path;
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

it('makes a private directory and a private file of its own in it', async () => {
  const directory = join(root, 'a', 'b');
  const [first, second] = [await openIn(directory), await openIn(directory)];
  expect(readdirSync(directory).sort()).toEqual([basename(first), basename(second)].sort());
  expect([modeOf(directory), modeOf(first)]).toEqual([0o700, 0o600]);
});

it('has a default place among the temporary files', async () => {
  vi.stubEnv('TMPDIR', root);
  onTestFinished(() => void vi.unstubAllEnvs());
  const path = await openIn(undefined);
  expect(path.startsWith(join(root, `exec-server-spill-${process.geteuid?.()}/`))).toBe(true);
});

it.each([
  ['build-1.x', 'build-1.x'],
  ['../../etc/passwd', '.._.._etc_passwd'],
  ['', ''],
  ['a\0b c\n', 'a_b_c_'],
  ['x'.repeat(63), 'x'.repeat(63)],
  ['x'.repeat(64), 'x'.repeat(64)],
  ['x'.repeat(65), 'x'.repeat(64)],
])('names the file for people after the process id %j', async (processId, name) => {
  expect(basename(await openIn(root, processId))).toMatch(new RegExp(`^[0-9a-f-]{36}-${name}\\.log$`));
});

it('takes an unused file back', async () => {
  await discardSpillFile(await openSpillFile({ directory: root, limitBytes: 10, processId: 'p' }));
  expect(readdirSync(root)).toEqual([]);
});

describe('a place that is not private is refused', () => {
  it.each([0o770, 0o702, 0o1777])('mode %o', async (mode) => {
    const directory = join(root, 'd');
    mkdirSync(directory);
    chmodSync(directory, mode);
    await expect(openIn(directory)).rejects.toThrow(
      new SpillError(`the spill directory ${directory} can be written to by other users`),
    );
  });

  it('a link', async () => {
    const directory = join(root, 'link');
    symlinkSync(root, directory);
    await expect(openIn(directory)).rejects.toThrow(`the spill directory ${directory} is not a directory`);
  });

  it('a file', async () => {
    const directory = join(root, 'file');
    writeFileSync(directory, '');
    await expect(openIn(directory)).rejects.toThrow(
      `cannot use the spill directory ${directory}: File exists (os error 17)`,
    );
  });

  it("somebody else's", async () => {
    vi.spyOn(process, 'geteuid').mockReturnValue(54_321);
    onTestFinished(() => void vi.restoreAllMocks());
    await expect(openIn(root)).rejects.toThrow(`the spill directory ${root} belongs to another user`);
  });
});
