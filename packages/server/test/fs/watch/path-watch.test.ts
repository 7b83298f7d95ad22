import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, it, onTestFinished } from 'vitest';
import { toBytePath } from '../../../src/fs/watch/byte-path.js';
import { ChangeQueue, GATHER_MS } from '../../../src/fs/watch/change-queue.js';
import { DirectoryHub } from '../../../src/fs/watch/directory-hub.js';
import type { DirectorySource } from '../../../src/fs/watch/directory-source.js';
import { InotifySource } from '../../../src/fs/watch/inotify-source.js';
import { PathWatch, RETRY_MS } from '../../../src/fs/watch/path-watch.js';
import { PortableSource } from '../../../src/fs/watch/portable-source.js';
import { OsError } from '../../../src/os-error.js';
import { FakeClock } from '../../support/fake-clock.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

const sources = {
  inotify: (onOverflow: () => void) => new InotifySource(onOverflow),
  portable: (onOverflow: () => void) => new PortableSource(onOverflow),
};

/** What a client that applies every change knows: each path and, for a file, its content when it was last told. */
class Replica {
  readonly known = new Map<string, string>();

  constructor(private readonly root: string) {
    this.rescan();
  }

  apply(path: string, kind: string): void {
    if (kind === 'overflow') this.rescan();
    else if (kind !== 'modified') this.#forget(path);
    if (kind === 'created' || (kind === 'modified' && this.known.has(path))) this.#read(path);
  }

  rescan(): void {
    this.known.clear();
    for (const [path, content] of listTree(this.root)) this.known.set(path, content);
  }

  #forget(path: string): void {
    for (const known of this.known.keys())
      if (known === path || known.startsWith(`${path}/`)) this.known.delete(known);
  }

  #read(path: string): void {
    const content = contentOf(path);
    if (content === undefined) this.#forget(path);
    else this.known.set(path, content);
  }
}

/** The content of a file, `/` for a directory, nothing for nothing. */
function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EISDIR' ? '/' : undefined;
  }
}

function listTree(directory: string): Map<string, string> {
  const found = new Map<string, string>();
  const content = contentOf(directory);
  if (content === undefined) return found;
  found.set(directory, content);
  if (content !== '/') return found;
  for (const name of readdirSync(directory)) {
    for (const [path, below] of listTree(join(directory, name))) found.set(path, below);
  }
  return found;
}

function describeTree(tree: ReadonlyMap<string, string>): string {
  return Array.from(tree, (entry) => JSON.stringify(entry))
    .sort()
    .join('\n');
}

async function watchTree(path: string, createSource: (onOverflow: () => void) => DirectorySource) {
  const clock = new FakeClock();
  const hub = new DirectoryHub(undefined, createSource);
  const story: string[] = [];
  let onNews = () => {};
  const replica = new Replica(path);
  const queue = new ChangeQueue({
    root: toBytePath(Buffer.from(path)),
    limit: 100_000,
    clock,
    connection: { writable: true, whenWritable: () => Promise.resolve() },
    send: (changes) => {
      for (const change of changes) {
        story.push(`${change.kind} ${change.path.slice(path.length)}`);
        replica.apply(change.path, change.kind);
      }
      onNews();
    },
  });
  const watch = new PathWatch({
    hub,
    clock,
    queue,
    path: toBytePath(Buffer.from(path)),
    recursive: true,
    maxDirectories: 10_000,
  });
  onTestFinished(() => {
    watch.close();
    hub.close();
  });
  // Time passes by itself, so that what is gathered goes out.
  const ticker = setInterval(() => clock.advance(GATHER_MS), 5);
  onTestFinished(() => clearInterval(ticker));
  await watch.start();
  replica.rescan();
  return {
    clock,
    watch,
    story,
    replica,
    /** Waits for changes until `isEnough`. */
    until: async (isEnough: () => boolean): Promise<void> => {
      while (!isEnough()) await new Promise<void>((resolve) => (onNews = resolve));
    },
  };
}

type Operation = readonly [name: 'mkdir' | 'write' | 'remove' | 'move', path: string, to: string];

const NAMES = ['a', 'b', 'c'] as const;
const anyPath = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
  .map((names) => names.join('/'));
const anyOperation: fc.Arbitrary<Operation> = fc.tuple(
  fc.constantFrom('mkdir', 'write', 'remove', 'move'),
  anyPath,
  anyPath,
);

/** Operations that do not apply fail, which is fine. */
function toScript(operations: readonly Operation[]): string {
  const lines = operations.map(([name, path, to], index) => {
    if (name === 'mkdir') return `mkdir -p ${path}`;
    if (name === 'write') return `echo ${index} > ${path}`;
    if (name === 'remove') return `rm -rf ${path}`;
    return `mv -T ${path} ${to}`;
  });
  return `exec 2>/dev/null\n${lines.join('\n')}\ntrue`;
}

describe.each(['inotify', 'portable'] as const)('by %s', (kind) => {
  it('who applies the changes ends up with what is there, whatever another process does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyOperation, { minLength: 1, maxLength: 60 }), async (operations) => {
        const root = join(await makeTempDirectory(), 'root');
        mkdirSync(root);
        const { replica, until, watch } = await watchTree(root, sources[kind]);
        await promisify(execFile)('/bin/sh', ['-c', toScript(operations)], { cwd: root });
        const there = describeTree(listTree(root));
        await until(() => describeTree(replica.known) === there);
        watch.close();
      }),
      { numRuns: kind === 'inotify' ? 60 : 20 },
    );
  });

  it('finds the path again when it was away', async () => {
    const root = join(await makeTempDirectory(), 'a/b/root');
    mkdirSync(root, { recursive: true });
    const { replica, until } = await watchTree(root, sources[kind]);
    const script = 'rm -rf a; mkdir a; mkdir a/b; mkdir a/b/root; mkdir a/b/root/d; echo text > a/b/root/d/f';
    await promisify(execFile)('/bin/sh', ['-c', script], { cwd: join(root, '../../..') });
    await until(() => replica.known.get(join(root, 'd/f')) === 'text\n');
  });
});

it('a watch for which the system has no room overflows, looks again and again, and is whole in the end', async () => {
  const root = join(await makeTempDirectory(), 'root');
  mkdirSync(root);
  let isScarce = false;
  const { clock, story, until } = await watchTree(root, (onOverflow) => {
    const source = new InotifySource(onOverflow);
    return {
      watch(...args) {
        if (isScarce) throw new OsError(constants.errno.ENOSPC, 'inotify_add_watch');
        return source.watch(...args);
      },
      close: () => source.close(),
    };
  });
  const untilNextOverflow = () => {
    const before = story.length;
    return until(() => story.includes('overflow ', before));
  };
  isScarce = true;
  mkdirSync(join(root, 'd'));
  await untilNextOverflow();
  clock.advance(RETRY_MS);
  await untilNextOverflow();
  isScarce = false;
  clock.advance(RETRY_MS);
  await untilNextOverflow();
  writeFileSync(join(root, 'd/f'), '');
  await until(() => story.includes('created /d/f'));
});
