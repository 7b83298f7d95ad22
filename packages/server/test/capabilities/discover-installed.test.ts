import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { discoverInstalled } from '../../src/capabilities/discover-installed.js';
import { type FileTree, makeFileTree } from '../support/file-tree.js';

const skill = (name: string) => `---\nname: ${name}\ndescription: about ${name}\n---\n`;
const CACHE = 'codex/plugins/cache';
const MANIFEST = '.codex-plugin/plugin.json';
const METADATA = 'some capability metadata could not be loaded; discovery may be incomplete';
const LOCATIONS = 'some capability locations could not be resolved; discovery may be incomplete';

const NEVER = new AbortController().signal;

const places = (root: string) => ({
  codexHome: join(root, 'codex'),
  userHome: join(root, 'home'),
  systemDir: join(root, 'etc'),
});

async function discover(files: FileTree) {
  const { plugins, skills, warnings } = await discoverInstalled(places(await makeFileTree(files)), NEVER);
  return {
    plugins: plugins.map(({ id, version, displayName }) => [id, version, displayName]),
    skills: skills.map(({ name, discoveryRoot }) => [name, discoveryRoot.id]),
    warnings,
  };
}

describe('installed skills', () => {
  it('are those of the configuration, the user and the system', async () => {
    const found = await discover({
      'etc/skills/c/SKILL.md': skill('c'),
      'home/.agents/skills/b/SKILL.md': skill('b'),
      'codex/skills/.system/a/SKILL.md': skill('a'),
      'work/.agents/skills/d/SKILL.md': skill('d'),
    });
    expect(found).toEqual({
      plugins: [],
      skills: [
        ['a', 'codex-home-skills'],
        ['b', 'user-agent-skills'],
        ['c', 'system-skills'],
      ],
      warnings: [],
    });
  });

  it('are none where nothing is installed', async () => {
    expect(await discover({})).toEqual({ plugins: [], skills: [], warnings: [] });
  });

  it('have the namespace of the nearest plugin', async () => {
    const found = await discover({
      'home/.agents/skills/ns/.claude-plugin/plugin.json': '{"name":"ns"}',
      'home/.agents/skills/ns/SKILL.md': skill('s'),
      'home/.agents/skills/ns/deep/.codex-plugin/plugin.json': '{}',
      'home/.agents/skills/ns/deep/er/SKILL.md': skill('t'),
    });
    expect(found.skills.map(([name]) => name)).toEqual(['ns:s', 'deep:t']);
  });

  it.each([
    [63, 1],
    [64, 1],
    [65, 0],
  ])('with a namespace of %i characters and a name of 64', async (length, count) => {
    const found = await discover({
      'codex/skills/.codex-plugin/plugin.json': JSON.stringify({ name: 'n'.repeat(length) }),
      'codex/skills/SKILL.md': skill('s'.repeat(64)),
    });
    expect(found.skills.length).toBe(count);
    expect(found.warnings).toEqual(count === 1 ? [] : [METADATA]);
  });

  it('that cannot be understood lead to one warning per place', async () => {
    const found = await discover({
      'codex/skills/a/SKILL.md': 'no head',
      'codex/skills/b/SKILL.md': 'none either',
      'codex/skills/c/SKILL.md': skill('c'),
    });
    expect(found.skills).toEqual([['c', 'codex-home-skills']]);
    expect(found.warnings).toEqual([METADATA]);
  });
});

describe('installed plugins', () => {
  it('are in the newest version, the local one before all', async () => {
    const found = await discover({
      [`${CACHE}/mk/b/2.0.0/${MANIFEST}`]: '{"name":"old"}',
      [`${CACHE}/mk/b/10.0.0/${MANIFEST}`]: '{"name":"new"}',
      [`${CACHE}/mk/a/local/${MANIFEST}`]: '{"name":"mine"}',
      [`${CACHE}/mk/a/9.0.0/${MANIFEST}`]: '{"name":"other"}',
      [`${CACHE}/m2/a/1.0.0+b/${MANIFEST}`]: '{"name":"a"}',
    });
    expect(found.plugins).toEqual([
      ['a@m2', '1.0.0+b', 'a'],
      ['a@mk', 'local', 'mine'],
      ['b@mk', '10.0.0', 'new'],
    ]);
  });

  it.each([
    ['{"name":"n","interface":{"displayName":"Shown"}}', 'Shown'],
    ['{"name":"n","interface":{"displayName":"  "}}', 'n'],
    ['{"name":"n","interface":null}', 'n'],
    ['{"name":"  "}', '1.0.0'],
    ['{}', '1.0.0'],
  ])('%s is shown as %s', async (manifest, shown) => {
    const found = await discover({ [`${CACHE}/mk/p/1.0.0/${MANIFEST}`]: manifest });
    expect(found.plugins).toEqual([['p@mk', '1.0.0', shown]]);
    expect(found.warnings).toEqual([]);
  });

  it.each(['{bad', '[]', '{"name":5}', '{"interface":5}', '{"interface":{"displayName":5}}'])(
    '%s is not usable',
    async (manifest) => {
      const found = await discover({ [`${CACHE}/mk/p/1.0.0/${MANIFEST}`]: manifest });
      expect(found).toMatchObject({ plugins: [], warnings: [METADATA] });
    },
  );

  it('need a manifest, and names that are names', async () => {
    const found = await discover({
      [`${CACHE}/mk/none/1.0.0/file`]: '',
      [`${CACHE}/mk/bad name/1.0.0/${MANIFEST}`]: '{}',
      [`${CACHE}/mk/.hidden/1.0.0/${MANIFEST}`]: '{}',
      [`${CACHE}/m.k/p/1.0.0/${MANIFEST}`]: '{}',
      [`${CACHE}/mk/p/v 1/${MANIFEST}`]: '{}',
      [`${CACHE}/mk/dot.ted/1.0.0/${MANIFEST}`]: '{"name":"dotted"}',
      [`${CACHE}/mk/file`]: '',
    });
    expect(found).toMatchObject({ plugins: [['dot.ted@mk', '1.0.0', 'dotted']], warnings: [METADATA] });
  });

  it('say where they were installed from', async () => {
    const note = '.codex-remote-plugin-install.json';
    const root = await makeFileTree({
      [`${CACHE}/mk/a/1/${MANIFEST}`]: '{}',
      [`${CACHE}/mk/a/${note}`]: '{"schema_version":1,"remote_plugin_id":"id"}',
      [`${CACHE}/mk/b/1/${MANIFEST}`]: '{}',
      [`${CACHE}/mk/b/${note}`]: 'no json',
      [`${CACHE}/mk/c/1/${MANIFEST}`]: '{}',
      [`${CACHE}/mk/c/${note}`]: JSON.stringify({ remote_plugin_id: 'x'.repeat(1025) }),
    });
    const { plugins, warnings } = await discoverInstalled(places(root), NEVER);
    expect(plugins.map(({ remoteId }) => remoteId)).toEqual(['id', undefined, undefined]);
    expect(warnings).toEqual([LOCATIONS]);
  });

  it('may be linked as a whole, and not by their version', async () => {
    const root = await makeFileTree({
      [`${CACHE}/mk/a/1.0.0/${MANIFEST}`]: '{"name":"a"}',
      [`${CACHE}/mk/v/x`]: '',
    });
    await symlink('a', join(root, CACHE, 'mk/linked'));
    await symlink('../a/1.0.0', join(root, CACHE, 'mk/v/1.0.0'));
    const { plugins } = await discoverInstalled(places(root), NEVER);
    expect(plugins.map(({ id }) => id)).toEqual(['a@mk', 'linked@mk']);
  });
});
