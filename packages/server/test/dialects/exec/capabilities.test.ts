import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addFiles, makeFileTree } from '../../support/file-tree.js';
import { FOREIGN_RULE, requireSandbox, rule, sandboxOf } from '../../support/sandbox.js';
import { openServer, openSession } from '../../support/session.js';

describe('capabilityRoots/discoverV1', () => {
  it('answers for each root, in order', async () => {
    const root = await makeFileTree({ 'a/SKILL.md': 'text', 'b/x': '' });
    const wire = await openSession(openServer());
    const roots = ['b', 'a', 'missing', 'a'].map((name, index) => ({
      id: `${index}`,
      path: `file://${root}/${name}`,
    }));
    const { result } = await wire.request('capabilityRoots/discoverV1', { roots });
    const empty = { plugin: null, skills: [], namespaceManifests: [], warnings: [], error: null };
    const skills = [
      { instructions: { path: `file://${root}/a/SKILL.md`, contents: 'text' }, metadata: null },
    ];
    expect(result?.roots).toEqual([
      { ...roots[0], ...empty },
      { ...roots[1], ...empty, skills },
      {
        ...roots[2],
        ...empty,
        error: expect.stringMatching(/^failed to inspect capability root .*\(os error 2\)$/),
      },
      { ...roots[3], ...empty, skills },
    ]);
  });

  it.each([
    [127, true],
    [128, true],
    [129, false],
  ])('takes %i roots', async (count, taken) => {
    const wire = await openSession(openServer());
    const roots = Array.from({ length: count }, (_, index) => ({
      id: `${index}`,
      path: 'file:///nonexistent',
    }));
    const { result, error } = await wire.request('capabilityRoots/discoverV1', { roots });
    if (taken) expect(result?.roots).toHaveLength(count);
    else
      expect(error).toMatchObject({
        code: -32600,
        message: 'capability root discovery accepts at most 128 roots',
      });
  });

  it('refuses a root alone: one of another host, or one whose sandbox means nothing here', async () => {
    const wire = await openSession(openServer());
    const roots = [
      { id: 'share', path: 'file://host/share' },
      { id: 'confined', path: 'file:///tmp', sandbox: sandboxOf([FOREIGN_RULE]) },
    ];
    const { result } = await wire.request('capabilityRoots/discoverV1', { roots });
    expect(result).toMatchObject({
      roots: [
        {
          error:
            "failed to inspect capability root file://host/share: 'file://host/share' is invalid on 'linux'",
        },
        {
          error:
            "failed to inspect capability root file:///tmp: invalid sandbox permission path URI: 'file:///C:/x' is invalid on 'linux'",
        },
      ],
    });
  });

  it('reads a root through its sandbox, links that lead out of it included', async (test) => {
    await requireSandbox(test);
    const root = await makeFileTree({ 'r/a/SKILL.md': 'in', 'r/b/x': '', 'out/SKILL.md': 'out' });
    await symlink(join(root, 'out'), join(root, 'r/link'));
    const wire = await openSession(openServer());
    const sandbox = sandboxOf([rule(join(root, 'r'), 'read')]);
    const roots = [{ id: 'r', path: `file://${root}/r`, sandbox }];
    const { result } = await wire.request('capabilityRoots/discoverV1', { roots });
    const instructions = { path: `file://${root}/r/a/SKILL.md`, contents: 'in' };
    expect(result).toMatchObject({ roots: [{ skills: [{ instructions, metadata: null }], error: null }] });
    expect(JSON.stringify(result)).not.toContain('out/');
  });
});

describe('capabilities/discoverV2', () => {
  it('finds what is installed now, for whatever directory', async () => {
    const root = await makeFileTree({ 'codex/skills/a/SKILL.md': '---\nname: a\ndescription: d\n---\n' });
    const env = { HOME: join(root, 'home'), CODEX_HOME: join(root, 'codex') };
    const wire = await openSession(openServer({ env }));
    const discover = async (cwd = 'file:///nonexistent') => {
      const { result } = await wire.request('capabilities/discoverV2', { cwd });
      return result;
    };
    const a = {
      name: 'a',
      description: 'd',
      shortDescription: null,
      path: `file://${root}/codex/skills/a/SKILL.md`,
      discoveryRoot: { id: 'codex-home-skills', path: `file://${root}/codex/skills` },
      dependencies: null,
      policy: null,
    };
    expect(await discover()).toEqual({ plugins: [], skills: [a], warnings: [] });
    await addFiles(root, {
      'codex/skills/a/agents/openai.yaml': 'policy: {}',
      'codex/plugins/cache/mk/p/1/.codex-plugin/plugin.json': '{"name":"p"}',
    });
    expect(await discover('file://host/share')).toMatchObject({
      plugins: [{ id: 'p@mk', displayName: 'p', remotePluginId: null, version: '1', skills: [] }],
      skills: [{ ...a, policy: { allowImplicitInvocation: null, products: [] } }],
    });
  });

  it('finds what its sandbox lets it see', async (test) => {
    await requireSandbox(test);
    const skill = '---\nname: a\ndescription: d\n---\n';
    const root = await makeFileTree({
      'codex/skills/a/SKILL.md': skill,
      'home/.agents/skills/b/SKILL.md': skill,
    });
    const env = { HOME: join(root, 'home'), CODEX_HOME: join(root, 'codex') };
    const wire = await openSession(openServer({ env }));
    const sandbox = { ...sandboxOf([rule(join(root, 'codex'), 'read')]), cwd: `file://${root}` };
    const { result } = await wire.request('capabilities/discoverV2', { cwd: `file://${root}`, sandbox });
    expect(result?.skills).toMatchObject([{ name: 'a', path: `file://${root}/codex/skills/a/SKILL.md` }]);
    expect(result?.skills).toHaveLength(1);
  });

  it('needs the directory that the environment names', async () => {
    const wire = await openSession(openServer({ env: { CODEX_HOME: '/nonexistent' } }));
    expect((await wire.request('capabilities/discoverV2', { cwd: 'file:///tmp' })).error).toMatchObject({
      code: -32603,
      message: 'failed to find Codex home: CODEX_HOME points to "/nonexistent", but that path does not exist',
    });
  });
});
