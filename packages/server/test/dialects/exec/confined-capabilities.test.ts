import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { CapabilitiesDiscoverResult, DiscoveredRoot, SandboxEntry } from '@exec-server/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeFileTree } from '../../support/file-tree.js';
import {
  FOREIGN_RULE,
  pattern,
  READ_ROOT,
  requireBackend,
  rule,
  sandboxOf,
  special,
  VIEW_BACKENDS,
} from '../../support/sandbox.js';
import { openServer, openSession } from '../../support/session.js';

const DENIED = 'Permission denied (os error 13)';
const METADATA = 'some capability metadata could not be loaded; discovery may be incomplete';
const FOREIGN = "invalid sandbox permission path URI: 'file:///C:/x' is invalid on 'linux'";
const PROJECT_ROOTS = special({ kind: 'project_roots' }, 'read');

const skill = (name: string) => `---\nname: ${name}\ndescription: d\n---\n`;

describe.each(VIEW_BACKENDS)('capabilityRoots/discoverV1 by %s', (backend) => {
  beforeEach((test) => requireBackend(test, backend));

  async function open() {
    const tree = await makeFileTree({
      'r/skills/a/SKILL.md': skill('a'),
      'r/skills/b/SKILL.md': skill('b'),
      'r/.codex-plugin/plugin.json': '{"name":"p"}',
      'r/.mcp.json': '{}',
      'out/SKILL.md': skill('out'),
    });
    await symlink(join(tree, 'out'), join(tree, 'r/link'));
    const wire = await openSession(openServer({ sandboxBackend: backend }));
    const request = (...roots: object[]) => wire.request('capabilityRoots/discoverV1', { roots });
    const discover = async (...entries: SandboxEntry[]) => {
      const { result } = await request({ id: 'r', path: `file://${tree}/r`, sandbox: sandboxOf(entries) });
      const [root] = (result as { roots: DiscoveredRoot[] }).roots;
      const { plugin, skills, namespaceManifests, warnings, error } = root!;
      const withoutTree = (text: string) => text.replace(`file://${tree}`, '');
      return {
        plugin: plugin && { mcp: plugin.mcpConfig !== null },
        skills: skills.map(({ instructions }) => withoutTree(instructions.path)),
        manifests: namespaceManifests.length,
        warnings: warnings.map(withoutTree),
        error: error && withoutTree(error),
      };
    };
    return { tree, request, discover, within: (path: string) => join(tree, path) };
  }

  const A = '/r/skills/a/SKILL.md';
  const B = '/r/skills/b/SKILL.md';
  const LINK = '/r/link/SKILL.md';
  const ALL = { plugin: { mcp: true }, skills: [LINK, A, B], manifests: 1, warnings: [], error: null };
  const NONE = { plugin: null, skills: [], manifests: 0, warnings: [], error: null };

  it('leaves out what its sandbox denies, and says what it could not read', async () => {
    const { discover, within } = await open();
    const without = (path: string) => discover(READ_ROOT, rule(within(path), 'deny'));
    expect(await without('elsewhere')).toEqual(ALL);
    expect(await without('r')).toEqual({
      ...NONE,
      warnings: [
        `failed to scan capability path /r: ${DENIED}`,
        ...['.codex-plugin', '.claude-plugin', '.cursor-plugin'].map(
          (name) => `failed to inspect capability file /r/${name}/plugin.json: ${DENIED}`,
        ),
      ],
    });
    expect(await without('r/skills/b')).toEqual({
      ...ALL,
      skills: [LINK, A],
      warnings: [`failed to scan capability path /r/skills/b: ${DENIED}`],
    });
    expect(await without('r/skills/b/SKILL.md')).toEqual({
      ...ALL,
      skills: [LINK, A],
      warnings: [`failed to read capability file ${B}: ${DENIED}`],
    });
    expect(await without('r/.mcp.json')).toEqual({
      ...ALL,
      plugin: { mcp: false },
      warnings: [`failed to read capability file /r/.mcp.json: ${DENIED}`],
    });
    expect(await without('r/.codex-plugin')).toEqual({
      ...ALL,
      plugin: null,
      manifests: 0,
      warnings: [
        `failed to scan capability path /r/.codex-plugin: ${DENIED}`,
        `failed to inspect capability file /r/.codex-plugin/plugin.json: ${DENIED}`,
      ],
    });
    expect(await without('out')).toEqual({
      ...ALL,
      skills: [A, B],
      warnings: [`failed to scan capability path /r/link: ${DENIED}`],
    });
    const patterned = await discover(READ_ROOT, pattern(within('r/**/SKILL.md'), 'deny'));
    expect(patterned).toMatchObject({ skills: [LINK], error: null });
  });

  it('finds nothing of what its sandbox does not have', async () => {
    const { discover, within } = await open();
    expect(await discover(rule(within('out'), 'read'))).toEqual({
      ...NONE,
      error: 'failed to inspect capability root /r: No such file or directory (os error 2)',
    });
    expect(await discover(rule(within('r'), 'read'))).toEqual({ ...ALL, skills: [A, B] });
  });

  it('a root whose rules mean nothing here is refused alone; a context that lacks something is refused whole', async () => {
    const { tree, request, discover } = await open();
    expect(await discover(FOREIGN_RULE)).toEqual({
      ...NONE,
      error: `failed to inspect capability root /r: ${FOREIGN}`,
    });
    const root = { id: 'r', path: `file://${tree}/r` };
    expect((await request(root, { ...root, sandbox: sandboxOf([PROJECT_ROOTS]) })).error).toMatchObject({
      code: -32602,
      message: 'file system sandbox context with dynamic permissions requires cwd',
    });
    const own = sandboxOf([rule(join(tree, 'out'), 'read')]);
    const { result } = await request({ ...root, sandbox: own }, root);
    expect(result).toMatchObject({ roots: [{ skills: [] }, { skills: { length: 3 } }] });
  });
});

describe.each(VIEW_BACKENDS)('capabilities/discoverV2 by %s', (backend) => {
  beforeEach((test) => requireBackend(test, backend));

  async function open() {
    const tree = await makeFileTree({
      'codex/skills/a/SKILL.md': skill('a'),
      'user/.agents/skills/b/SKILL.md': skill('b'),
      'codex/plugins/cache/mk/p/1/.codex-plugin/plugin.json': '{"name":"p"}',
    });
    const env = { HOME: join(tree, 'user'), CODEX_HOME: join(tree, 'codex') };
    const wire = await openSession(openServer({ env, sandboxBackend: backend }));
    const request = (sandbox: object | null) =>
      wire.request('capabilities/discoverV2', { cwd: `file://${tree}`, sandbox });
    const discover = async (...entries: SandboxEntry[]) => {
      const { result } = await request({ ...sandboxOf(entries), cwd: `file://${tree}` });
      const { plugins, skills, warnings } = result as CapabilitiesDiscoverResult;
      return [plugins.map(({ id }) => id), skills.map(({ name }) => name), warnings];
    };
    const without = (path: string) => discover(READ_ROOT, rule(join(tree, path), 'deny'));
    return { tree, request, discover, without };
  }

  it('leaves out what its sandbox denies', async () => {
    const { tree, request, discover, without } = await open();
    expect(await without('elsewhere')).toEqual([['p@mk'], ['a', 'b'], []]);
    expect(await discover(rule(join(tree, 'codex'), 'read'))).toEqual([['p@mk'], ['a'], []]);
    expect(await discover(rule(join(tree, 'elsewhere'), 'read'))).toEqual([[], [], []]);
    expect(await without('codex/skills')).toEqual([['p@mk'], ['b'], [METADATA]]);
    expect(await without('codex/skills/a/SKILL.md')).toEqual([['p@mk'], ['b'], [METADATA]]);
    expect(await without('user/.agents/skills')).toEqual([['p@mk'], ['a'], [METADATA]]);
    expect(await without('user/.agents')).toEqual([['p@mk'], ['a'], []]);
    expect(await without('codex/plugins')).toEqual([[], ['a', 'b'], []]);
    expect(await without('codex/plugins/cache/mk/p')).toEqual([[], ['a', 'b'], []]);
    // What one context hides, another one shows.
    expect((await request(null)).result).toMatchObject({ skills: { length: 2 }, plugins: { length: 1 } });
  });

  it('refuses a context that means nothing here', async () => {
    const { tree, request } = await open();
    const foreign = { ...sandboxOf([FOREIGN_RULE]), cwd: `file://${tree}` };
    expect((await request(foreign)).error).toMatchObject({ code: -32603, message: FOREIGN });
    expect((await request(sandboxOf([READ_ROOT]))).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('missing field `cwd`') as string,
    });
  });
});

describe.each([...VIEW_BACKENDS, 'landlock', 'none'] as const)('with %s', (backend) => {
  it('a client is promised what the backend can do', async (test) => {
    const makesViews = backend === 'helper' || backend === 'bubblewrap';
    if (makesViews) await requireBackend(test, backend);
    const wire = await openSession(openServer({ sandboxBackend: backend }));
    const { result } = await wire.request('environment/info');
    expect(result).toMatchObject({
      capabilities: { sandboxedFileStreaming: makesViews, capabilityDiscoverySandbox: makesViews },
    });
  });
});
