import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { CopyOptions, CopyProgress } from '../../src/node/fs-copy-options.js';
import { createNodeFileSystem, type NodeFileSystem } from '../../src/node/node-file-system.js';
import { countCalls, failureOf, openFiles } from '../support/files.js';

const MIB = 1024 * 1024;
const LARGE = randomBytes(3 * MIB + 5);

async function openBoth(...options: Parameters<typeof openFiles>) {
  const files = await openFiles(...options);
  return { ...files, fs: createNodeFileSystem(files.client) };
}

/** Files of all sizes, modes that matter, links of all kinds, and something that cannot be copied. */
function makeTree(path: (name?: string) => string): void {
  mkdirSync(path('from/sub/deeper'), { recursive: true });
  mkdirSync(path('from/empty'));
  writeFileSync(path('from/small'), 'small');
  writeFileSync(path('from/nothing'), '');
  writeFileSync(path('from/sub/large'), LARGE);
  writeFileSync(path('from/sub/deeper/run'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(path('from/secret'), 'secret', { mode: 0o600 });
  writeFileSync(path('from/grün & "quoted"\n'), 'odd name');
  symlinkSync('../small', path('from/sub/link'));
  symlinkSync('sub', path('from/dirlink'));
  symlinkSync('/nowhere/at/all', path('from/broken'));
  symlinkSync('.', path('from/loop'));
  chmodSync(path('from/sub/deeper'), 0o555);
  chmodSync(path('from/empty'), 0o1777);
}

/** Everything that a copy has to keep. */
function describeTree(root: string): Record<string, unknown> {
  const found: Record<string, unknown> = { '': lstatSync(root).mode };
  // Node's own recursion goes through links to directories.
  const walk = (below: string) => {
    for (const child of readdirSync(`${root}/${below}`)) {
      const name = `${below}${child}`;
      const path = `${root}/${name}`;
      const stats = lstatSync(path);
      if (stats.isSymbolicLink()) found[name] = readlinkSync(path);
      else found[name] = [stats.mode, stats.isFile() ? readFileSync(path).toString('latin1') : 'directory'];
      if (stats.isDirectory()) walk(`${name}/`);
    }
  };
  walk('');
  return found;
}

type Copy = (fs: NodeFileSystem, from: string, to: string, options?: CopyOptions) => Promise<unknown>;
const ways: [string, Copy][] = [
  ['copyIn', (fs, from, to, options) => fs.copyIn(from, to, options)],
  ['copyOut', (fs, from, to, options) => fs.copyOut(from, to, options)],
];

describe.each(ways)('%s', (_, copy) => {
  it('copies a tree with its modes and links', async () => {
    const { fs, path } = await openBoth();
    makeTree(path);
    const summary = await copy(fs, path('from'), path('made/on/the/way'));
    expect(describeTree(path('made/on/the/way'))).toEqual(describeTree(path('from')));
    expect(summary).toEqual({
      bytes: LARGE.length + 'small#!/bin/sh\nsecretodd name'.length,
      files: 6,
      directories: 4,
      links: 4,
      skipped: [],
      keptModes: true,
    });
  });

  it('copies again over what is there, and leaves the rest alone', async () => {
    const { fs, path } = await openBoth();
    makeTree(path);
    chmodSync(path('from/sub/deeper'), 0o755);
    await copy(fs, path('from'), path('to'));
    writeFileSync(path('to/small'), 'changed and longer');
    writeFileSync(path('to/other'), 'kept');
    chmodSync(path('to'), 0o700);
    await copy(fs, path('from'), path('to'));
    expect(readFileSync(path('to/small'), 'utf8')).toBe('small');
    expect(readFileSync(path('to/other'), 'utf8')).toBe('kept');
    expect(statSync(path('to')).mode & 0o777).toBe(0o700);
    expect(readlinkSync(path('to/broken'))).toBe('/nowhere/at/all');
  });

  it('copies a single file, a link and an empty directory', async () => {
    const { fs, path } = await openBoth();
    makeTree(path);
    await copy(fs, path('from/sub/large'), path('large'));
    await copy(fs, path('from/broken'), path('broken'));
    await copy(fs, path('from/empty'), path('empty'));
    expect(readFileSync(path('large')).equals(LARGE)).toBe(true);
    expect(readlinkSync(path('broken'))).toBe('/nowhere/at/all');
    expect(statSync(path('empty')).mode & 0o7777).toBe(0o1777);
  });

  it('names what cannot be copied', async () => {
    const { fs, path } = await openBoth();
    mkdirSync(path('from'));
    execFileSync('mkfifo', [path('from/fifo')]);
    writeFileSync(path('from/f'), 'x');
    expect(await copy(fs, path('from'), path('to'))).toMatchObject({
      files: 1,
      skipped: [path('from/fifo')],
    });
    expect(await failureOf(copy(fs, path('from/fifo'), path('fifo')))).toMatchObject({ code: 'usage' });
  });

  it('tells how far it is', async () => {
    const { fs, path } = await openBoth();
    makeTree(path);
    const told: CopyProgress[] = [];
    await copy(fs, path('from'), path('to'), { onProgress: (progress) => told.push(progress) });
    const last = told.at(-1);
    expect(last).toMatchObject({ files: 6, totalFiles: 6, bytes: last?.totalBytes });
    expect(told.map(({ bytes }) => bytes)).toEqual(told.map(({ bytes }) => bytes).sort((a, b) => a - b));
    // A large file is told of more than once.
    expect(told.filter(({ path }) => path === 'sub/large').length).toBeGreaterThan(3);
  });

  it('an abort in the middle leaves no half of a file', async () => {
    const { fs, path } = await openBoth();
    mkdirSync(path('from'));
    writeFileSync(path('from/large'), LARGE);
    const abort = new AbortController();
    const copying = copy(fs, path('from'), path('to'), {
      signal: abort.signal,
      onProgress: () => abort.abort(new Error('enough')),
    });
    await expect(copying).rejects.toThrow('enough');
    expect(readdirSync(path('to'))).toEqual([]);
  });

  it('a lost connection costs nothing, however often it is', async () => {
    const { fs, path, dialer } = await openBoth();
    const large = Buffer.concat(Array.from({ length: 8 }, () => LARGE));
    writeFileSync(path('large'), large);
    await copy(fs, path('large'), path('to'), { onProgress: () => dialer.cut() });
    expect(readFileSync(path('to')).equals(large)).toBe(true);
    expect(dialer.dials).toBeGreaterThan(1);
  });

  it('a lost connection to a server that keeps no files leaves no half of one', async () => {
    const { fs, path, dialer } = await openBoth({ disabledCapabilities: ['fsResumableStreams'] });
    writeFileSync(path('large'), Buffer.concat(Array.from({ length: 8 }, () => LARGE)));
    writeFileSync(path('to'), 'old');
    const copying = copy(fs, path('large'), path('to'), { onProgress: () => dialer.cut() });
    expect(await failureOf(copying)).toMatchObject({ code: 'connection_lost' });
    expect(readFileSync(path('to'), 'utf8')).toBe('old');
    expect(readdirSync(path()).sort()).toEqual(['large', 'to']);
  });

  it('writes through a link to a file, and keeps the link', async () => {
    const { fs, path } = await openBoth();
    writeFileSync(path('from'), LARGE);
    writeFileSync(path('target'), '');
    symlinkSync('target', path('to'));
    await copy(fs, path('from'), path('to'));
    expect(lstatSync(path('to')).isSymbolicLink()).toBe(true);
    expect(readFileSync(path('target')).equals(LARGE)).toBe(true);
  });

  it('refuses a directory where a file is', async () => {
    const { fs, path } = await openBoth();
    mkdirSync(path('from'));
    writeFileSync(path('to'), 'kept');
    await expect(copy(fs, path('from'), path('to'))).rejects.toThrow('EEXIST');
    expect(readFileSync(path('to'), 'utf8')).toBe('kept');
  });

  it('says what is missing', async () => {
    const { fs, path } = await openBoth();
    await expect(copy(fs, path('missing'), path('to'))).rejects.toThrow('ENOENT');
    expect(existsSync(path('to'))).toBe(false);
  });
});

describe('copyIn', () => {
  it('keeps a file secret that is secret, from its first byte on', async () => {
    const { fs, path, client } = await openBoth();
    writeFileSync(path('secret'), 'secret', { mode: 0o600 });
    const whole = countCalls(client, 'fs/writeFile');
    await fs.copyIn(path('secret'), path('to'));
    expect(whole.total).toBe(0);
    expect(statSync(path('to')).mode & 0o777).toBe(0o600);
  });

  it('sends few files at once', async () => {
    const { fs, path, client } = await openBoth();
    mkdirSync(path('from'));
    for (let i = 0; i < 40; i++) writeFileSync(path(`from/${i}`), 'x', { mode: 0o600 });
    const opens = countCalls(client, 'fs/open');
    await fs.copyIn(path('from'), path('to'));
    expect(readdirSync(path('to'))).toHaveLength(40);
    expect(opens.most).toBeLessThanOrEqual(8);
    expect(opens.most).toBeGreaterThan(1);
  });

  it('takes relative paths and URLs of this machine, and names that are no UTF-8', async () => {
    const { fs, path, directory } = await openBoth();
    mkdirSync(path('from'));
    const name = Buffer.concat([Buffer.from(`${path('from')}/`), Buffer.of(0xff)]);
    writeFileSync(name, 'bytes');
    await fs.copyIn(pathToFileURL(path('from')), path('to'));
    expect(readdirSync(path('to'), { encoding: 'buffer' })).toEqual([Buffer.of(0xff)]);
    expect(basename(directory)).not.toBe('');
    await fs.copyIn('package.json', path('package.json'));
    expect(existsSync(path('package.json'))).toBe(true);
  });

  it('needs a server that has links only where there are some', async () => {
    const { fs, path } = await openBoth({ disabledCapabilities: ['fsLinks', 'fsSetMode', 'fsRename'] });
    makeTree(path);
    expect(await failureOf(fs.copyIn(path('from'), path('to')))).toMatchObject({ capability: 'fsLinks' });
    expect(existsSync(path('to'))).toBe(false);
    expect(await fs.copyIn(path('from/sub/large'), path('large'))).toMatchObject({ keptModes: false });
    expect(readFileSync(path('large')).equals(LARGE)).toBe(true);
  });

  it('removes half a file where it cannot be written beside', async () => {
    const { fs, path } = await openBoth({ disabledCapabilities: ['fsRename'] });
    writeFileSync(path('from'), LARGE);
    const onProgress = () => {
      throw new Error('enough');
    };
    await expect(fs.copyIn(path('from'), path('to'), { onProgress })).rejects.toThrow('enough');
    expect(existsSync(path('to'))).toBe(false);
  });
});

describe('copyOut', () => {
  it('needs a server that tells links from what they lead to', async () => {
    const { fs, path } = await openBoth({ disabledCapabilities: ['fsListBroken'] });
    makeTree(path);
    expect(await failureOf(fs.copyOut(path('from'), path('to')))).toMatchObject({
      capability: 'fsListBroken',
    });
  });

  it('copies without modes where the server tells none, and says so', async () => {
    const { fs, path } = await openBoth({ disabledCapabilities: ['fsFullMetadata'] });
    makeTree(path);
    expect(await fs.copyOut(path('from/secret'), path('to'))).toMatchObject({ keptModes: false });
    expect(statSync(path('to')).mode & 0o777).toBe(0o666 & ~process.umask());
  });
});
