import { execFileSync } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatToml } from '../../../src/environment/config/format-toml.js';
import { readConfig } from '../../../src/environment/config/read-config.js';
import { addFiles, type FileTree, makeFileTree } from '../../support/file-tree.js';

/** A machine of its own: `home` for the user, `etc` for the administrator, `work` for projects. */
async function makeMachine(files: FileTree = {}) {
  const root = await makeFileTree({ 'home/x': '', 'etc/x': '', 'work/x': '', ...files });
  const places = { codexHome: join(root, 'home'), systemDir: join(root, 'etc') };
  return {
    root,
    add: (more: FileTree) => addFiles(root, more),
    /** What the user's file says about `work`, as an entry of it. */
    trust: (directory: string, level = 'trusted') =>
      `[projects."${join(root, directory)}"]\ntrust_level = "${level}"\n`,
    async read(cwd: string, config: string[][] = [['model']], requirements: string[][] = []) {
      const selected = await readConfig({ ...places, cwd: join(root, cwd) }, { config, requirements });
      const show = ({ layers, cloudInsertionIndex }: (typeof selected)['config']) => ({
        layers: layers.map(({ source, table }) => [source.replaceAll(root, ''), formatToml(table)]),
        cloudInsertionIndex,
      });
      return { config: show(selected.config), requirements: show(selected.requirements) };
    },
    /** The models that the layers name, lowest precedence first. */
    async models(cwd: string): Promise<unknown[]> {
      const { config } = await readConfig(
        { ...places, cwd: join(root, cwd) },
        { config: [['model']], requirements: [] },
      );
      return config.layers.map(({ table }) => table.model);
    },
  };
}

const gitDirectory = (path: string) => ({ [`${path}/.git/HEAD`]: 'ref: refs/heads/main\n' });

describe('layers', () => {
  it('come from the system, the user, the project and the administrator, in this order', async () => {
    const machine = await makeMachine({
      'etc/config.toml': 'model = "system"\n',
      'etc/managed_config.toml': 'model = "managed"\n',
      'work/.codex/config.toml': 'model = "project"\n',
    });
    await machine.add({ 'home/config.toml': `model = "user"\n${machine.trust('work')}` });
    expect((await machine.read('work')).config).toEqual({
      layers: [
        ['system (/etc/config.toml)', 'model = "system"\n'],
        ['user (/home/config.toml)', 'model = "user"\n'],
        ['project (/work/.codex/config.toml)', 'model = "project"\n'],
        ['legacy managed_config.toml (/etc/managed_config.toml)', 'model = "managed"\n'],
      ],
      cloudInsertionIndex: 1,
    });
  });

  it('without anything that was asked for are left out, and do not count', async () => {
    const machine = await makeMachine({
      'etc/config.toml': 'other = 1\n',
      'home/config.toml': '\ufeffmodel = "user"\n',
    });
    expect((await machine.read('work')).config).toEqual({
      layers: [['user (/home/config.toml)', 'model = "user"\n']],
      cloudInsertionIndex: 0,
    });
    expect((await machine.read('work', [['missing', 'key']])).config.layers).toEqual([]);
  });

  it('of requirements are those of the administrator, and what the old file amounts to', async () => {
    const machine = await makeMachine({
      'etc/requirements.toml': 'allowed_approval_policies = ["never"]\n',
      'etc/managed_config.toml': 'approval_policy = "never"\nsandbox_mode = "workspace-write"\n',
    });
    const paths = [['allowed_approval_policies'], ['allowed_sandbox_modes']];
    expect((await machine.read('work', [], paths)).requirements).toEqual({
      layers: [
        ['/etc/requirements.toml', 'allowed_approval_policies = ["never"]\n'],
        [
          '/etc/managed_config.toml',
          'allowed_approval_policies = ["never"]\nallowed_sandbox_modes = ["read-only", "workspace-write"]\n',
        ],
      ],
      cloudInsertionIndex: 1,
    });
    expect((await machine.read('work', [], [['allowed_sandbox_modes']])).requirements).toMatchObject({
      cloudInsertionIndex: 0,
    });
  });
});

describe('trust', () => {
  const tree = {
    'work/.codex/config.toml': 'model = "root"\n',
    'work/a/.codex/config.toml': 'model = "a"\n',
    'work/a/b/.codex/config.toml': 'model = "b"\n',
  };

  it('is needed', async () => {
    const machine = await makeMachine({ ...tree, 'home/config.toml': '' });
    expect(await machine.models('work')).toEqual([]);
    await machine.add({ 'home/config.toml': machine.trust('work', 'untrusted') });
    expect(await machine.models('work')).toEqual([]);
    await machine.add({ 'home/config.toml': machine.trust('work') });
    expect(await machine.models('work')).toEqual(['root']);
  });

  it('of a repository reaches down to its directories, unless one has an entry of its own', async () => {
    const machine = await makeMachine({ ...tree, ...gitDirectory('work') });
    await machine.add({ 'home/config.toml': machine.trust('work') });
    expect(await machine.models('work/a/b')).toEqual(['root', 'a', 'b']);
    expect(await machine.models('work/a/missing')).toEqual(['root', 'a']);
    await machine.add({ 'home/config.toml': machine.trust('work') + machine.trust('work/a', 'untrusted') });
    expect(await machine.models('work/a/b')).toEqual(['root', 'b']);
    await machine.add({ 'home/config.toml': machine.trust('work/a') });
    expect(await machine.models('work/a/b')).toEqual(['a']);
  });

  it('without a repository concerns the directory alone', async () => {
    const machine = await makeMachine(tree);
    await machine.add({ 'home/config.toml': machine.trust('work') });
    expect(await machine.models('work/a')).toEqual([]);
    await mkdir(join(machine.root, 'work/.git'));
    expect(await machine.models('work/a')).toEqual([]);
  });

  it('stops at the markers that the configuration names', async () => {
    const machine = await makeMachine({ ...tree, ...gitDirectory('work'), 'work/a/MARK': '' });
    const trust = machine.trust('work/a');
    await machine.add({ 'home/config.toml': `project_root_markers = ["MARK"]\n${trust}` });
    expect(await machine.models('work/a/b')).toEqual(['a', 'b']);
    await machine.add({ 'home/config.toml': `project_root_markers = []\n${machine.trust('work')}` });
    expect(await machine.models('work/a/b')).toEqual(['b']);
  });

  it('is looked up by the real path, then by the one that was given', async () => {
    const machine = await makeMachine(tree);
    await symlink('work', join(machine.root, 'link'));
    await machine.add({ 'home/config.toml': machine.trust('work') });
    expect(await machine.models('link')).toEqual(['root']);
    await machine.add({ 'home/config.toml': machine.trust('link') });
    expect(await machine.models('link')).toEqual(['root']);
    expect(await machine.models('work')).toEqual([]);
  });

  it('reaches linked worktrees, but nobody who merely claims to be one', async () => {
    const machine = await makeMachine();
    const git = (...args: string[]) =>
      execFileSync(
        'git',
        ['-c', 'user.name=n', '-c', 'user.email=e', '-C', join(machine.root, 'work'), ...args],
        {
          stdio: 'ignore',
        },
      );
    git('init');
    git('commit', '--allow-empty', '-m', 'first');
    git('worktree', 'add', join(machine.root, 'tree'));
    await machine.add({
      'home/config.toml': machine.trust('work'),
      'tree/.codex/config.toml': 'model = "tree"\n',
      'liar/.git': `gitdir: ${join(machine.root, 'work/.git/worktrees/tree')}\n`,
      'liar/.codex/config.toml': 'model = "liar"\n',
    });
    expect(await machine.models('tree')).toEqual(['tree']);
    expect(await machine.models('liar')).toEqual([]);
  });

  it('of the administrator counts, and that of the user more', async () => {
    const machine = await makeMachine(tree);
    await machine.add({ 'etc/config.toml': machine.trust('work') });
    expect(await machine.models('work')).toEqual(['root']);
    await machine.add({ 'home/config.toml': machine.trust('work', 'untrusted') });
    expect(await machine.models('work')).toEqual([]);
  });
});

describe('a project', () => {
  it('cannot decide where credentials go', async () => {
    const machine = await makeMachine({
      'work/.codex/config.toml':
        'model = "m"\nmodel_provider = "x"\nnotify = ["sh"]\nopenai_base_url = "u"\n' +
        '[features]\nrespect_system_proxy = true\nother = true\n[profiles.p]\nmodel = "n"\n',
    });
    await machine.add({ 'home/config.toml': machine.trust('work') });
    const keys = ['model', 'model_provider', 'notify', 'openai_base_url', 'features', 'profiles'];
    const { config } = await machine.read(
      'work',
      keys.map((key) => [key]),
    );
    expect(config.layers).toEqual([
      ['project (/work/.codex/config.toml)', 'model = "m"\n\n[features]\nother = true\n'],
    ]);
  });

  it('cannot decide whose traffic is opened', async () => {
    const machine = await makeMachine({
      'work/.codex/config.toml': '[permissions.p.network.mitm]\na = 1\n',
      'two/.codex/config.toml': '[permissions.p]\nextends = "q"\n',
    });
    const user = machine.trust('work') + machine.trust('two');
    await machine.add({ 'home/config.toml': `${user}[permissions.p.network.mitm]\nb = 1\n` });
    await expect(machine.read('work')).rejects.toThrow(
      'project configuration cannot change permissions.p.network.mitm',
    );
    await expect(machine.read('two')).rejects.toThrow(
      'project configuration cannot change inheritance of MITM profile p',
    );
  });

  it('is not the directory of the user’s own configuration', async () => {
    const machine = await makeMachine({ 'work/.codex/x': '' });
    await machine.add({ 'work/.codex/config.toml': `model = "user"\n${machine.trust('work')}` });
    const home = join(machine.root, 'work/.codex');
    const places = { codexHome: home, systemDir: join(machine.root, 'etc'), cwd: join(machine.root, 'work') };
    const { config } = await readConfig(places, { config: [['model']], requirements: [] });
    expect(config.layers.map(({ source }) => source)).toEqual([`user (${home}/config.toml)`]);
  });

  it('that is not trusted may hold anything', async () => {
    const machine = await makeMachine({ 'work/.codex/config.toml': 'no toml at all' });
    expect(await machine.models('work')).toEqual([]);
  });
});

it.each([1024 * 1024 - 1, 1024 * 1024])('a file of %i bytes is read', async (bytes) => {
  const machine = await makeMachine({ 'home/config.toml': 'model = "m"\n#'.padEnd(bytes, 'x') });
  expect(await machine.models('work')).toEqual(['m']);
});

describe('a file that cannot be used', () => {
  it.each([
    ['home/config.toml', 'a = 1\nmodel = home"\n', /home\/config\.toml:2:9: invalid value$/],
    [
      'home/config.toml',
      Buffer.from([0x61, 0x3d, 0xff]),
      /^Failed to read config file .*: invalid utf-8 sequence/,
    ],
    ['home/config.toml', 'x'.repeat(1024 * 1024 + 1), /exceeds the 1048576-byte limit$/],
    [
      'home/config.toml',
      'project_root_markers = "x"\n',
      /^project_root_markers must be an array of strings$/,
    ],
    ['home/config.toml', 'projects = "x"\n', /^invalid type: string "x", expected a map\nin `projects`\n$/],
    [
      'home/config.toml',
      '[projects."/p"]\ntrust_level = "maybe"\n',
      /^unknown variant `maybe`, expected `trusted` or `untrusted`\nin `projects.\/p.trust_level`\n$/,
    ],
    ['etc/config.toml', '=', /etc\/config\.toml:1:1: /],
    [
      'etc/requirements.toml',
      'a = b\n',
      /^failed to parse requirements layer .*requirements.toml: TOML parse error at/,
    ],
    [
      'etc/managed_config.toml',
      'approval_policy = "bogus"\n',
      /^Failed to parse config requirements as TOML: unknown variant `bogus`, expected one of `untrusted`/,
    ],
  ])('%s %#', async (path, contents, message) => {
    const machine = await makeMachine({ [path]: contents });
    await expect(machine.read('work')).rejects.toThrow(message);
    await expect(machine.read('work')).rejects.toMatchObject({ name: 'ConfigError' });
  });

  it('is one of a trusted project too', async () => {
    const machine = await makeMachine({ 'work/.codex/config.toml': 'model = p\n' });
    await machine.add({ 'home/config.toml': machine.trust('work') });
    await expect(machine.read('work')).rejects.toThrow(
      /^Error parsing project config file .* line 1, column 9\n/,
    );
  });

  it('is no file', async () => {
    const machine = await makeMachine({ 'home/config.toml/file': '' });
    await expect(machine.read('work')).rejects.toThrow(/config\.toml` is not a file$/);
  });
});
