import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { listen, makeDirectory, runCommand } from '../command-support.js';
import { FakeIo } from '../support.js';

const root = makeDirectory();
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(root, 'test-'));
});

const QUIET = { code: 0, stdout: '', stderr: '' };

/** A tree with what a copy must keep: an executable, a secret, links, an empty directory, a file of several blocks. */
function makeTree(): string {
  const tree = join(directory, 'tree');
  mkdirSync(join(tree, 'empty'), { recursive: true });
  mkdirSync(join(tree, 'deep', 'er'), { recursive: true });
  writeFileSync(join(tree, 'run.sh'), '#!/bin/sh\n');
  chmodSync(join(tree, 'run.sh'), 0o755);
  writeFileSync(join(tree, 'deep', 'secret'), 'x');
  chmodSync(join(tree, 'deep', 'secret'), 0o600);
  writeFileSync(join(tree, 'deep', 'er', 'large'), Buffer.alloc(2_500_000, 'large '));
  symlinkSync('run.sh', join(tree, 'link'));
  symlinkSync('nowhere', join(tree, 'dangling'));
  chmodSync(join(tree, 'empty'), 0o500);
  return tree;
}

/** Everything of a tree that a copy keeps. */
function describeTree(path: string): Record<string, unknown> {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    names.map((name) => {
      const file = join(path, name);
      const stats = lstatSync(file);
      if (stats.isSymbolicLink()) return [name, `-> ${readlinkSync(file)}`];
      const content = stats.isFile() ? readFileSync(file, 'latin1') : 'directory';
      return [name, [stats.mode & 0o7777, content]];
    }),
  );
}

/** The first picture of the bar is drawn when the first block has gone. */
function atFirstBlock({ stderr }: FakeIo, act: () => void): void {
  const write = stderr._write.bind(stderr);
  stderr._write = (chunk: Buffer, encoding: string, done: () => void) => {
    if (stderr.text === '') act();
    write(chunk, encoding, done);
  };
}

describe.each(['to the server', 'from the server'])('%s', (direction) => {
  const place = (side: 'source' | 'destination', path: string) =>
    (side === 'destination') === (direction === 'to the server') ? `remote:${path}` : path;
  const source = (path: string) => place('source', path);
  const destination = (path: string) => place('destination', path);

  it('a tree keeps modes and links', async () => {
    const tree = makeTree();
    const copy = join(directory, 'copy');
    const url = await listen();
    expect(await runCommand(['cp', '-r', '--connect', url, source(tree), destination(copy)])).toEqual(QUIET);
    expect(describeTree(copy)).toEqual(describeTree(tree));
    expect(Object.keys(describeTree(copy))).toHaveLength(8);
  });

  it('goes into a directory that is there, and beside it otherwise', async () => {
    const tree = makeTree();
    const there = join(directory, 'there');
    mkdirSync(there);
    expect(await runCommand(['cp', '-r', source(tree), destination(there)])).toEqual(QUIET);
    expect(describeTree(join(there, 'tree'))).toEqual(describeTree(tree));
    const file = join(tree, 'run.sh');
    expect(await runCommand(['cp', source(file), destination(there)])).toEqual(QUIET);
    expect(readFileSync(join(there, 'run.sh'), 'utf8')).toBe('#!/bin/sh\n');
    expect(await runCommand(['cp', source(file), destination(join(there, 'new/'))])).toEqual(QUIET);
    expect(readFileSync(join(there, 'new', 'run.sh'), 'utf8')).toBe('#!/bin/sh\n');
    expect(await runCommand(['cp', source(file), destination(join(there, 'name'))])).toEqual(QUIET);
    expect(lstatSync(join(there, 'name')).mode & 0o777).toBe(0o755);
  });

  it('what `.` contains is copied, not a directory of that name', async () => {
    const tree = makeTree();
    const there = join(directory, 'there');
    mkdirSync(there);
    expect(await runCommand(['cp', '-r', source(`${tree}/.`), destination(there)])).toEqual(QUIET);
    expect(describeTree(there)).toEqual(describeTree(tree));
  });

  it('follows a link unless the copy is recursive', async () => {
    const link = join(makeTree(), 'link');
    const copy = join(directory, 'copy');
    expect(await runCommand(['cp', source(link), destination(copy)])).toEqual(QUIET);
    expect(lstatSync(copy).isFile()).toBe(true);
    const kept = join(directory, 'kept');
    expect(await runCommand(['cp', '-r', source(link), destination(kept)])).toEqual(QUIET);
    expect(readlinkSync(kept)).toBe('run.sh');
  });

  it('several go into a directory', async () => {
    const tree = makeTree();
    const there = join(directory, 'there');
    const sources = ['run.sh', 'deep/secret'].map((name) => source(join(tree, name)));
    const refused = await runCommand(['cp', ...sources, destination(there)]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('several things can only be copied into a directory');
    mkdirSync(there);
    expect(await runCommand(['cp', ...sources, destination(there)])).toEqual(QUIET);
    expect(readdirSync(there).sort()).toEqual(['run.sh', 'secret']);
  });

  it('two of the same name are refused before one is copied', async () => {
    const tree = makeTree();
    const there = join(directory, 'there');
    mkdirSync(there);
    writeFileSync(join(directory, 'secret'), 'other');
    const sources = [join(tree, 'deep', 'secret'), join(directory, 'secret')].map(source);
    const { code, stderr } = await runCommand(['cp', ...sources, destination(there)]);
    expect(code).toBe(1);
    expect(stderr).toContain('two of them would be the same file');
    expect(readdirSync(there)).toEqual([]);
  });

  it('says what is wrong with a source, and what to do', async () => {
    const tree = makeTree();
    const copy = destination(join(directory, 'copy'));
    expect(await runCommand(['cp', source(tree), copy])).toEqual({
      code: 1,
      stdout: '',
      stderr: `Error: it is a directory: ${source(tree)}\nGive -r to copy it with everything in it.\n`,
    });
    const missing = source(join(directory, 'missing'));
    expect(await runCommand(['cp', '-r', missing, copy])).toEqual({
      code: 1,
      stdout: '',
      stderr: `Error: no such file or directory: ${missing}\n`,
    });
  });

  it('tells what it does not copy', async () => {
    const tree = makeTree();
    const pipe = join(tree, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const { code, stderr } = await runCommand([
      'cp',
      '-r',
      source(tree),
      destination(join(directory, 'copy')),
    ]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `Not copied, because it is a socket, a FIFO or a device: ${pipe}\n`,
    });
  });

  it('draws a bar on a terminal, unless it is to be quiet', async () => {
    const file = join(makeTree(), 'deep', 'er', 'large');
    const args = ['cp', source(file), destination(join(directory, 'copy'))];
    const io = new FakeIo();
    io.stderr.isTTY = true;
    const { code, stdout, stderr } = await runCommand(args, io);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr.split('\r\u001b[K').at(-1)).toMatch(/^large \[#+\] 100% {2}2\.4 MiB {2}.*\/s\n$/);
    const quiet = new FakeIo();
    quiet.stderr.isTTY = true;
    expect(await runCommand([...args, '-q'], quiet)).toEqual(QUIET);
  });

  it('a signal ends it, and what was there before stays', async () => {
    const file = join(makeTree(), 'deep', 'er', 'large');
    const copy = join(directory, 'copy');
    writeFileSync(copy, 'before');
    const io = new FakeIo();
    io.stderr.isTTY = true;
    atFirstBlock(io, () => io.signal('SIGINT'));
    const { code, stderr } = await runCommand(['cp', source(file), destination(copy)], io);
    expect(code).toBe(130);
    expect(stderr).toContain('Error: interrupted by SIGINT; files that were complete have been kept\n');
    expect(readFileSync(copy, 'utf8')).toBe('before');
    expect(readdirSync(directory).sort()).toEqual(['copy', 'tree']);
    expect(io.listeners).toBe(0);
  });
});

it('a second signal ends the process at once', async () => {
  const file = join(makeTree(), 'deep', 'er', 'large');
  const io = new FakeIo();
  io.stderr.isTTY = true;
  atFirstBlock(io, () => {
    io.signal('SIGTERM');
    io.signal('SIGTERM');
  });
  expect((await runCommand(['cp', file, `remote:${join(directory, 'copy')}`], io)).code).toBe(143);
  expect(io.exits).toEqual([143]);
});

it('copies on the server alone when both are there', async () => {
  const tree = makeTree();
  const copy = join(directory, 'copy');
  expect(await runCommand(['cp', '-r', `remote:${tree}`, `remote:${copy}`])).toEqual(QUIET);
  expect(describeTree(copy)).toEqual(describeTree(tree));
});

it('says where permissions cannot be kept', async () => {
  const url = await listen({ disabledCapabilities: ['fsSetMode'] });
  const file = join(makeTree(), 'run.sh');
  const copy = join(directory, 'copy');
  const { code, stderr } = await runCommand(['cp', '--connect', url, file, `remote:${copy}`]);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'Permissions were not kept: the server cannot tell or set them.\n',
  });
  expect(readFileSync(copy, 'utf8')).toBe('#!/bin/sh\n');
});

it('needs one side on the server, and both', async () => {
  const { code, stderr } = await runCommand(['cp', 'a', 'b', '--connect', 'ws://127.0.0.1:1']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr:
      "error: one side has to be on the server: write it as remote:PATH\n\nFor more information, try '--help'.\n",
  });
  expect((await runCommand(['cp', 'remote:a'])).stderr).toContain("missing required argument 'destination'");
});
