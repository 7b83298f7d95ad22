import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SandboxView } from '../../../src/sandbox/files/view.js';
import type { FilePolicy } from '../../../src/sandbox/policy/policy.js';
import { pattern, READ_ROOT, resolveNow, rule, sandboxOf } from '../../support/sandbox.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

/** A directory that may be written, with a file that is denied and things that are denied if they come to be. */
async function makePolicy(): Promise<{ files: FilePolicy; at: (name: string) => string }> {
  const directory = await makeTempDirectory();
  const at = (name: string) => join(directory, name);
  mkdirSync(at('.git'));
  writeFileSync(at('denied'), '');
  const rules = [rule(directory, 'write'), rule(at('denied'), 'deny'), rule(at('later/on'), 'deny')];
  const context = sandboxOf([READ_ROOT, ...rules, rule(at('root'), 'read'), pattern(at('**/*.key'), 'deny')]);
  const { files } = resolveNow(context, { temporaryDirectories: [] });
  return { files: files as FilePolicy, at };
}

type Change = (at: (name: string) => string) => void;

const REPLACE_DENIED: Change = (at) => {
  writeFileSync(at('new'), '');
  renameSync(at('new'), at('denied'));
};
const MAKE_DENIED: Change = (at) => {
  mkdirSync(at('later'));
  writeFileSync(at('later/on'), 'x');
};
const REMAKE_PROTECTED: Change = (at) => {
  rmSync(at('.git'), { recursive: true });
  mkdirSync(at('.git'));
};
const MAKE_OTHERS: Change = (at) => {
  writeFileSync(at('x'), '');
  symlinkSync('x', at('y'));
  mkdirSync(at('z'));
};

describe.each(['reads', 'changes'] as const)('for what %s', (access) => {
  it.each<[string, Change]>([
    ['a denied file is replaced', REPLACE_DENIED],
    ['a denied file is removed', (at) => rmSync(at('denied'))],
    ['a denied path comes to be', MAKE_DENIED],
    ['a file that a pattern denies comes to be', (at) => writeFileSync(at('a.key'), '')],
    ['what stays read-only is made anew', REMAKE_PROTECTED],
  ])('%s: the sandbox is another one', async (_, change) => {
    const { files, at } = await makePolicy();
    const view = await SandboxView.look(files, access);
    change(at);
    expect(view.equals(await SandboxView.look(files, access))).toBe(false);
  });

  it.each<[string, Change]>([
    ['nothing', () => {}],
    ['what a file says', (at) => writeFileSync(at('denied'), 'more')],
    ['other files', MAKE_OTHERS],
  ])('%s changes: the sandbox is the same', async (_, change) => {
    const { files, at } = await makePolicy();
    const view = await SandboxView.look(files, access);
    change(at);
    const now = await SandboxView.look(files, access);
    expect([view.equals(now), view.becomes(now), await view.stillHolds()]).toEqual([true, true, true]);
  });
});

it('does not hold any more once a mount has lost its place', async () => {
  const { files, at } = await makePolicy();
  const view = await SandboxView.look(files, 'reads');
  rmSync(at('denied'));
  expect(await view.stillHolds()).toBe(false);
  writeFileSync(at('denied'), '');
  expect(await view.stillHolds()).toBe(false);
});

it('leaves traces where something is to be kept from being made, and none for readers', async () => {
  const { files } = await makePolicy();
  expect((await SandboxView.look(files, 'changes')).leavesTraces).toBe(true);
  expect((await SandboxView.look(files, 'reads')).leavesTraces).toBe(false);
});
