import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveProgram } from '../../src/native/exec-path.js';

describe('resolveProgram', () => {
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

  it('returns a name with a slash as it is', () => {
    for (const name of ['/bin/sh', './x', 'a/b', '../up'])
      expect(resolveProgram(name, '/bin', cwd)).toBe(name);
  });

  it('takes the first executable file on the path', () => {
    expect(resolveProgram('both', search('first', 'second'), cwd)).toBe(join(root, 'first/both'));
    expect(resolveProgram('both', search('missing', 'second', 'first'), cwd)).toBe(join(root, 'second/both'));
    expect(resolveProgram('link', search('first'), cwd)).toBe(join(root, 'first/link'));
  });

  it('skips what cannot be executed', () => {
    expect(resolveProgram('only', search('denied', 'second'), cwd)).toBe(join(root, 'second/only'));
  });

  it('counts an empty or relative element from the working directory', () => {
    expect(resolveProgram('here', '', cwd)).toBe('./here');
    expect(resolveProgram('here', '/nowhere::', cwd)).toBe('./here');
    expect(resolveProgram('both', 'first', cwd)).toBe('first/both');
  });

  it('finds a program below a working directory that is not text', () => {
    const odd = Buffer.concat([cwd, Buffer.from([0x2f, 0xff])]);
    mkdirSync(odd);
    writeFileSync(Buffer.concat([odd, Buffer.from('/tool')]), '', { mode: 0o755 });
    expect(resolveProgram('tool', '', odd)).toBe('./tool');
  });

  it('has a default path', () => {
    expect(resolveProgram('sh', undefined, cwd)).toMatch(/^\/(usr\/)?bin\/sh$/);
  });

  it.each([
    ['nothing is found', 'absent', 2],
    ['the name is empty', '', 2],
    ['a link leads nowhere', 'dangling', 2],
    ['only a plain file is found', 'plain', 13],
    ['only a directory is found', 'folder', 13],
  ])('throws when %s', (_, name, errno) => {
    expect(() => resolveProgram(name, search('first', 'denied'), cwd)).toThrow(
      expect.objectContaining({ errno }),
    );
  });
});
