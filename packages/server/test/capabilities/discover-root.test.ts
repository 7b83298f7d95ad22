import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_BUNDLE_BYTES, MAX_FILE_BYTES } from '../../src/capabilities/bundle.js';
import { discoverRoot, SCAN_LIMITS } from '../../src/capabilities/discover-root.js';
import { type FileTree, makeFileTree } from '../support/file-tree.js';

const NEVER = new AbortController().signal;

/** What is found, with paths below the root. */
async function discover(files: FileTree, below = '') {
  const root = await makeFileTree(files);
  const { plugin, skills, namespaceManifests, warnings } = await discoverRoot(join(root, below), NEVER);
  const short = (text: string) => text.replaceAll(root, '');
  return {
    plugin: plugin && {
      manifest: short(plugin.manifest.path),
      mcp: plugin.mcpConfig && short(plugin.mcpConfig.path),
      apps: plugin.appsConfig && short(plugin.appsConfig.path),
    },
    skills: skills.map(({ instructions, metadata }) => [
      short(instructions.path),
      ...(metadata === undefined ? [] : [short(metadata.path)]),
    ]),
    namespaces: namespaceManifests.map(({ path }) => short(path)),
    warnings: warnings.map(short),
  };
}

describe('skills', () => {
  it('are files of that name anywhere below, in order of their paths, with their metadata', async () => {
    const found = await discover({
      'z/SKILL.md': 'z',
      'a b/SKILL.md': 'a',
      'a b/agents/openai.yaml': 'interface: {}',
      'SKILL.md': 'root',
      'SKILL.md.txt': '',
      'dir/SKILL.md/file': '',
    });
    expect(found.skills).toEqual([
      ['/SKILL.md'],
      ['/a b/SKILL.md', '/a b/agents/openai.yaml'],
      ['/z/SKILL.md'],
    ]);
    expect(found.warnings).toEqual([]);
  });

  it.each([
    [MAX_FILE_BYTES - 1, true],
    [MAX_FILE_BYTES, true],
    [MAX_FILE_BYTES + 1, false],
  ])('of %i bytes', async (bytes, taken) => {
    const found = await discover({ 'SKILL.md': 'x'.repeat(bytes) });
    expect(found.skills.length).toBe(taken ? 1 : 0);
    expect(found.warnings).toEqual(
      taken ? [] : [`capability file file:///SKILL.md exceeds the ${MAX_FILE_BYTES}-byte limit`],
    );
  });

  it('share a budget of bytes', async () => {
    const size = MAX_BUNDLE_BYTES / 16;
    const files = Object.fromEntries(
      Array.from({ length: 17 }, (_, index) => [`s${100 + index}/SKILL.md`, 'x'.repeat(size)]),
    );
    const found = await discover(files);
    expect(found.skills.length).toBe(16);
    expect(found.warnings).toEqual([`capability root bundle exceeds the ${MAX_BUNDLE_BYTES}-byte limit`]);
  });

  it('that are no text are left out with a warning', async () => {
    const found = await discover({
      'SKILL.md': Buffer.from([0x61, 0xff]),
      'ok/SKILL.md': 'x',
      'ok/agents/openai.yaml': Buffer.from([0xff]),
    });
    expect(found.skills).toEqual([['/ok/SKILL.md']]);
    expect(found.warnings).toEqual([
      'capability file file:///SKILL.md is not UTF-8: invalid utf-8 sequence of 1 bytes from index 1',
      'capability file file:///ok/agents/openai.yaml is not UTF-8: invalid utf-8 sequence of 1 bytes from index 0',
    ]);
  });
});

describe('the plugin that a root is', () => {
  it('has the first of three manifests', async () => {
    const found = await discover({
      '.cursor-plugin/plugin.json': '{}',
      '.claude-plugin/plugin.json': '{}',
      '.codex-plugin/plugin.json/file': '',
    });
    expect(found.plugin?.manifest).toBe('/.claude-plugin/plugin.json');
    expect(found.namespaces).toEqual(['/.claude-plugin/plugin.json']);
  });

  it.each([
    ['{"mcpServers":"./m.json","apps":"./sub/./apps.json"}', '/m.json', '/sub/apps.json', undefined],
    ['{}', '/.mcp.json', undefined, undefined],
    ['{"mcpServers":{"a":{}}}', undefined, undefined, undefined],
    ['{"mcpServers":["a"],"apps":5}', '/.mcp.json', undefined, undefined],
    ['no json', '/.mcp.json', undefined, undefined],
    ['null', '/.mcp.json', undefined, undefined],
    ['{"mcpServers":"./missing.json"}', undefined, undefined, undefined],
    ['{"mcpServers":"m.json"}', '/.mcp.json', undefined, 'mcpServers|start with `./`'],
    ['{"apps":"/etc/passwd"}', '/.mcp.json', undefined, 'apps|start with `./`'],
    ['{"apps":"./../x"}', '/.mcp.json', undefined, 'apps|remain below the capability root'],
    ['{"apps":"./a\\\\..\\\\x"}', '/.mcp.json', undefined, 'apps|remain below the capability root'],
    ['{"apps":"./"}', '/.mcp.json', undefined, 'apps|remain below the capability root'],
  ])('%s', async (manifest, mcp, apps, refusal) => {
    const found = await discover({
      '.codex-plugin/plugin.json': manifest,
      '.mcp.json': '{}',
      'm.json': '{}',
      'sub/apps.json': '{}',
    });
    expect([found.plugin?.mcp, found.plugin?.apps]).toEqual([mcp, apps]);
    const [member, rule] = refusal?.split('|') ?? [];
    expect(found.warnings).toEqual(
      refusal === undefined
        ? []
        : [`ignoring ${member} in file:///.codex-plugin/plugin.json: path must ${rule}`],
    );
  });
});

describe('namespaces', () => {
  it('are those of nested plugins, one manifest each, behind the root’s own', async () => {
    const found = await discover({
      '.claude-plugin/plugin.json': '{}',
      'b/.claude-plugin/plugin.json': '{}',
      'a/.cursor-plugin/plugin.json': '{}',
      'a/.codex-plugin/plugin.json': '{}',
      'c/plugin.json': '{}',
    });
    expect(found.namespaces).toEqual([
      '/.claude-plugin/plugin.json',
      '/a/.codex-plugin/plugin.json',
      '/b/.claude-plugin/plugin.json',
    ]);
  });

  it('may be the one of the nearest directory above', async () => {
    const found = await discover({ '.codex-plugin/plugin.json': '{}', 'x/y/SKILL.md': '' }, 'x/y');
    expect(found.plugin).toBeUndefined();
    expect(found.namespaces).toEqual(['/.codex-plugin/plugin.json']);
  });
});

describe('a root', () => {
  it('may be a link to a directory, and must not be anything else', async () => {
    const root = await makeFileTree({ 'd/SKILL.md': '', f: '' });
    await symlink('d', join(root, 'link'));
    expect((await discoverRoot(join(root, 'link'), NEVER)).skills[0]?.instructions.path).toBe(
      `${root}/link/SKILL.md`,
    );
    await expect(discoverRoot(join(root, 'f'), NEVER)).rejects.toThrow(
      `capability root file://${root}/f is not a directory`,
    );
    await expect(discoverRoot(join(root, 'missing'), NEVER)).rejects.toThrow(
      `failed to inspect capability root file://${root}/missing: No such file or directory (os error 2)`,
    );
  });

  it('that is too large says so', async () => {
    const root = await makeFileTree({ a: '', b: '', 'SKILL.md': '' });
    const { warnings } = await discoverRoot(root, NEVER, { ...SCAN_LIMITS, maxEntries: 2 });
    expect(warnings).toEqual([`capability scan reached its traversal limit (root: file://${root})`]);
  });
});
