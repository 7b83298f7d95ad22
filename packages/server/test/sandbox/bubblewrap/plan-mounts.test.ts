import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { SandboxEntry } from '@exec-server/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { type Mount, type MountPlan, planMounts } from '../../../src/sandbox/bubblewrap/plan-mounts.js';
import { hideSocket } from '../../../src/sandbox/hidden-sockets.js';
import { pattern, READ_ROOT, resolveNow, rule, sandboxOf, special } from '../../support/sandbox.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

function plan(...entries: SandboxEntry[]): Promise<MountPlan> {
  const { files } = resolveNow(sandboxOf(entries), { temporaryDirectories: [] });
  if (files === 'unrestricted') throw new Error('the policy does not restrict files');
  return planMounts(files);
}

function describeMount(mount: Mount, path: string): string {
  switch (mount.kind) {
    case 'bind':
      return `${mount.writable ? 'write' : 'read'} ${path}`;
    case 'hide-directory':
      return `hide ${path}/${mount.passable ? ' passable' : ''}`;
    case 'hide-file':
      return `hide ${path}`;
    case 'link':
      return `link ${path} ${mount.target.toString()}`;
  }
}

/** The mounts below a directory as words, without those for names that are always protected. */
function below(directory: string, { mounts, targets }: MountPlan): string[] {
  const words = mounts.map((mount) => describeMount(mount, mount.path.toString().replace(directory, '.')));
  const made = targets.map(({ path, kind }) => `make ${kind} ${path.toString().replace(directory, '.')}`);
  return [...made, ...words].filter(
    (word) => / \.(?:\/|$)/.test(word) && !/\.(?:git|agents|codex|aws)$/.test(word),
  );
}

async function makeTree(): Promise<string> {
  const directory = await makeTempDirectory();
  await mkdir(join(directory, 'a/b'), { recursive: true });
  await mkdir(join(directory, 'c'));
  await writeFile(join(directory, 'a/file'), '');
  return directory;
}

it('binds what differs from what is around it, and nothing else', async () => {
  const at = await makeTree();
  const view = await plan(
    READ_ROOT,
    rule(at, 'write'),
    rule(`${at}/a`, 'read'),
    rule(`${at}/a/b`, 'write'),
    rule(`${at}/a/file`, 'read'),
  );
  expect(view.root).toBe('read');
  expect(below(at, view)).toEqual(['write .', 'read ./a', 'write ./a/b']);
});

it('starts from an empty root when nothing is said of it', async () => {
  const at = await makeTree();
  const view = await plan(rule(`${at}/a`, 'read'));
  expect(view.root).toBe('empty');
  expect(below(at, view)).toEqual(['read ./a']);
  expect(view.mounts.every(({ path }) => path.toString().startsWith(at))).toBe(true);
});

it('hides what is denied, and lets through to what is not', async () => {
  const at = await makeTree();
  const denied = [rule(`${at}/a`, 'deny'), rule(`${at}/c`, 'deny')];
  expect(below(at, await plan(READ_ROOT, ...denied))).toEqual(['hide ./a/', 'hide ./c/']);
  expect(below(at, await plan(READ_ROOT, ...denied, rule(`${at}/a/b`, 'write')))).toEqual([
    'hide ./a/ passable',
    'write ./a/b',
    'hide ./c/',
  ]);
  expect(below(at, await plan(READ_ROOT, rule(`${at}/a/file`, 'deny')))).toEqual(['hide ./a/file']);
  // Where nothing is seen there is nothing to hide.
  expect(below(at, await plan(...denied))).toEqual([]);
});

it('keeps from being made what must not be, where it could be', async () => {
  const at = await makeTree();
  const missing = [
    rule(`${at}/new`, 'deny'),
    rule(`${at}/deep/down/new`, 'deny'),
    rule(`${at}/x`, 'read'),
    rule(`${at}/y`, 'write'),
  ];
  expect(below(at, await plan(READ_ROOT, rule(at, 'write'), ...missing))).toEqual([
    'make file ./deep',
    'make file ./new',
    'make directory ./x',
    'write .',
    'hide ./deep',
    'hide ./new',
    'read ./x',
  ]);
  expect(below(at, await plan(READ_ROOT, ...missing))).toEqual([]);
});

it('keeps from being renamed what leads to what is withheld', async () => {
  const at = await makeTree();
  await mkdir(join(at, 'x/y/z'), { recursive: true });
  expect(below(at, await plan(READ_ROOT, rule(at, 'write'), rule(`${at}/x/y/z`, 'deny')))).toEqual([
    'write .',
    'write ./x',
    'write ./x/y',
    'hide ./x/y/z/',
  ]);
  expect(below(at, await plan(READ_ROOT, rule(at, 'write'), rule(`${at}/x/y/later`, 'read')))).toEqual([
    'make directory ./x/y/later',
    'write .',
    'write ./x',
    'write ./x/y',
    'read ./x/y/later',
  ]);
});

it('shows nothing of the host in what every sandbox has its own of, because of what is withheld there', async () => {
  for (const path of ['/dev/shm', '/proc/sys/kernel', '/sys/kernel']) {
    const { mounts } = await plan(special({ kind: 'root' }, 'write'), rule(path, 'deny'));
    const bound = mounts.filter(({ kind }) => kind === 'bind').map((mount) => mount.path.toString());
    expect(bound.filter((other) => /^\/(?:dev|proc|sys)\b/.test(other))).toEqual([]);
  }
});

it('keeps from being renamed where a name is protected that does not exist', async () => {
  const at = await makeTree();
  const view = await plan(
    READ_ROOT,
    rule(at, 'write'),
    rule(`${at}/a/b`, 'write'),
    rule(`${at}/no/such`, 'write'),
  );
  expect(below(at, view)).toEqual(['write .', 'write ./a', 'write ./a/b']);
});

it('protects names in writable directories only', async () => {
  const at = await makeTree();
  const { targets } = await plan(READ_ROOT, rule(`${at}/c`, 'write'), rule(`${at}/a/file`, 'write'));
  expect(targets.map(({ path, kind }) => `${kind} ${path.toString()}`)).toEqual(
    ['.agents', '.aws', '.codex', '.git'].map((name) => `directory ${at}/c/${name}`),
  );
});

it('protects a repository that a `.git` file leads to, with what it shares, where it could be written', async () => {
  const at = await makeTree();
  await mkdir(join(at, 'main/.git/worktrees/c'), { recursive: true });
  await writeFile(join(at, 'main/.git/worktrees/c/commondir'), '../..\n');
  await writeFile(join(at, 'c/.git'), `gitdir: ${at}/main/.git/worktrees/c\n`);
  const repository = async (...entries: SandboxEntry[]) =>
    (await plan(READ_ROOT, ...entries)).mounts
      .filter(({ path }) => path.toString().startsWith(`${at}/main/`))
      .map((mount) => describeMount(mount, mount.path.toString().replace(at, '.')));
  expect(await repository(rule(at, 'write'), rule(`${at}/c`, 'write'))).toEqual(['read ./main/.git']);
  // A rule for it goes before, and what cannot be written needs none.
  expect(
    await repository(rule(at, 'write'), rule(`${at}/c`, 'write'), rule(`${at}/main/.git`, 'write')),
  ).toEqual(['write ./main/.git', 'write ./main/.git/worktrees', 'read ./main/.git/worktrees/c']);
  expect(await repository(rule(`${at}/c`, 'write'))).toEqual([]);
  // Nonsense leads nowhere.
  for (const text of ['gitdir:', 'nonsense', 'gitdir: /\0', `gitdir: ${at}/none`]) {
    await writeFile(join(at, 'c/.git'), text);
    expect(await repository(rule(at, 'write'), rule(`${at}/c`, 'write'))).toEqual([]);
  }
});

it('hides what patterns match, by where it leads', async () => {
  const at = await makeTree();
  await writeFile(join(at, 'c/key'), '');
  await symlink(join(at, 'c/key'), join(at, 'a/key.pem'));
  await writeFile(join(at, 'a/b/other.pem'), '');
  expect(below(at, await plan(READ_ROOT, pattern(`${at}/**/*.pem`, 'deny')))).toEqual([
    'hide ./a/b/other.pem',
    'hide ./c/key',
  ]);
});

it('follows links that no program can change, and shows them where the view has none', async () => {
  const at = await makeTree();
  await symlink('a', join(at, 'link'));
  expect(below(at, await plan(READ_ROOT, rule(`${at}/link/b`, 'write')))).toEqual(['write ./a/b']);
  expect(below(at, await plan(rule(`${at}/link/b`, 'write')))).toEqual(['write ./a/b', 'link ./link a']);
});

it('refuses rules that lead through links which programs can change', async () => {
  const at = await makeTree();
  await symlink('a', join(at, 'link'));
  for (const access of ['read', 'write', 'deny'] as const)
    await expect(plan(READ_ROOT, rule(at, 'write'), rule(`${at}/link/b`, access))).rejects.toMatchObject({
      failure: 'unenforceable',
    });
  // A link to itself leads nowhere.
  await symlink('loop', join(at, 'loop'));
  expect(below(at, await plan(READ_ROOT, rule(`${at}/loop`, 'deny')))).toEqual([]);
});

it('shows programs what they need, unless a rule says otherwise', async () => {
  const view = await plan(special({ kind: 'minimal' }, 'read'), rule('/etc', 'deny'));
  const paths = view.mounts.map(({ path }) => path.toString());
  expect(paths).toContain('/usr');
  expect(paths).not.toContain('/etc');
});

it('hides the sockets of this server', async () => {
  const at = await makeTempDirectory();
  const path = join(at, 'socket');
  const listener = createServer().listen(path);
  await once(listener, 'listening');
  onTestFinished(() => void listener.close());
  const reveal = hideSocket(path);
  expect(below(at, await plan(READ_ROOT))).toEqual(['hide ./socket']);
  // Somebody who names it means it.
  expect(below(at, await plan(READ_ROOT, rule(path, 'write')))).toEqual(['write ./socket']);
  reveal();
  expect(below(at, await plan(READ_ROOT))).toEqual([]);
});

it('hides directories of sockets but for what rules name in them, and pins what leads there', async () => {
  const at = await makeTree();
  onTestFinished(hideSocket(join(at, 'a'), 'directory'));
  expect(below(at, await plan(READ_ROOT, rule(at, 'write')))).toEqual(['write .', 'hide ./a/']);
  expect(below(at, await plan(READ_ROOT, rule(join(at, 'a/b'), 'read')))).toEqual([
    'hide ./a/ passable',
    'read ./a/b',
  ]);
  onTestFinished(hideSocket(join(at, 'c'), 'directory'));
  const open = await planMounts('unrestricted');
  expect(open.root).toBe('write');
  expect(below(at, open)).toEqual(['write .', 'hide ./a/', 'hide ./c/']);
});

it('hides nothing but a socket where a socket is said to be, and no socket that is not there', async () => {
  const at = await makeTree();
  for (const name of ['a', 'nothing']) onTestFinished(hideSocket(join(at, name)));
  onTestFinished(hideSocket(join(at, 'a/file'), 'directory'));
  expect(below(at, await planMounts('unrestricted'))).toEqual([]);
});
