import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveProgram, resolveProgramSync } from '../../src/native/exec-path.js';

describe.each([
  ['in turns', resolveProgram],
  ['at once', resolveProgramSync],
])('a search %s', (_way, resolve) => {
  let root: string;
  let cwd: Buffer;

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'exec-path-'));
    cwd = Buffer.from(root);
    for (const directory of ['first', 'second', 'denied', 'first/folder']) mkdirSync(join(root, directory));
    for (const file of ['first/both', 'second/both', 'second/only', 'here']) {
      writeFileSync(join(root, file), '#!/bin/sh\n', { mode: 0o755 });
    }
    for (const file of ['denied/only', 'denied/plain']) writeFileSync(join(root, file), '', { mode: 0o644 });
    symlinkSync('both', join(root, 'first/link'));
    symlinkSync('nowhere', join(root, 'first/dangling'));
  });

  afterAll(() => rmSync(root, { recursive: true }));

  const search = (...directories: string[]) => directories.map((name) => join(root, name)).join(':');

  it('returns a name with a slash as it is', async () => {
    for (const name of ['/bin/sh', './x', 'a/b', '../up'])
      expect(await resolve(name, '/bin', cwd)).toBe(name);
  });

  it('takes the first executable file on the path', async () => {
    expect(await resolve('both', search('first', 'second'), cwd)).toBe(join(root, 'first/both'));
    expect(await resolve('both', search('missing', 'second', 'first'), cwd)).toBe(join(root, 'second/both'));
    expect(await resolve('link', search('first'), cwd)).toBe(join(root, 'first/link'));
  });

  it('skips what cannot be executed', async () => {
    expect(await resolve('only', search('denied', 'second'), cwd)).toBe(join(root, 'second/only'));
  });

  it('counts an empty or relative element from the working directory', async () => {
    expect(await resolve('here', '', cwd)).toBe('./here');
    expect(await resolve('here', '/nowhere::', cwd)).toBe('./here');
    expect(await resolve('both', 'first', cwd)).toBe('first/both');
  });

  it('finds a program below a working directory that is not text', async () => {
    const odd = Buffer.concat([cwd, Buffer.from([0x2f, 0xff])]);
    mkdirSync(odd);
    writeFileSync(Buffer.concat([odd, Buffer.from('/tool')]), '', { mode: 0o755 });
    expect(await resolve('tool', '', odd)).toBe('./tool');
  });

  it('has a default path', async () => {
    expect(await resolve('sh', undefined, cwd)).toMatch(/^\/(usr\/)?bin\/sh$/);
  });

  it.each([
    ['nothing is found', 'absent', 2],
    ['the name is empty', '', 2],
    ['a link leads nowhere', 'dangling', 2],
    ['only a plain file is found', 'plain', 13],
    ['only a directory is found', 'folder', 13],
  ])('fails when %s', async (_, name, errno) => {
    const found = (async () => resolve(name, search('first', 'denied'), cwd))();
    await expect(found).rejects.toMatchObject({ errno });
  });
});

it('a search in a PATH of thousands lets the loop turn', async () => {
  const path = `${'/nowhere:'.repeat(5_000)}/bin`;
  let isOver = false;
  const found = Promise.resolve(resolveProgram('sh', path, Buffer.from('/'))).finally(() => {
    isOver = true;
  });
  // Timers have their turn, not only what the search itself waits for.
  await new Promise((resolve) => setTimeout(resolve, 1));
  expect(isOver).toBe(false);
  expect(await found).toBe('/bin/sh');
});

it('a name with a slash is nothing to search for', () => {
  expect(resolveProgram('/nowhere/tool', undefined, Buffer.from('/'))).toBe('/nowhere/tool');
});
