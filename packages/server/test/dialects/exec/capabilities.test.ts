import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addFiles, makeFileTree } from '../../support/file-tree.js';
import { openServer, openSession } from '../../support/session.js';

const RESTRICTED = {
  permissions: {
    type: 'managed',
    file_system: { type: 'restricted', entries: [] },
    network: 'restricted',
  },
  cwd: 'file:///tmp',
  windowsSandboxLevel: 'disabled',
};

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
      expect(error).toEqual({ code: -32600, message: 'capability root discovery accepts at most 128 roots' });
  });

  it('refuses a root alone: one of another host, or one that is to be confined', async () => {
    const wire = await openSession(openServer());
    const roots = [
      { id: 'share', path: 'file://host/share' },
      { id: 'confined', path: 'file:///tmp', sandbox: RESTRICTED },
    ];
    const { result } = await wire.request('capabilityRoots/discoverV1', { roots });
    expect(result).toMatchObject({
      roots: [
        {
          error:
            "failed to inspect capability root file://host/share: 'file://host/share' is invalid on 'linux'",
        },
        { error: 'filesystem sandbox is unavailable on this executor' },
      ],
    });
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

  it('is refused where it is to be confined', async () => {
    const wire = await openSession(openServer());
    const { error } = await wire.request('capabilities/discoverV2', {
      cwd: 'file:///tmp',
      sandbox: RESTRICTED,
    });
    expect(error).toEqual({
      code: -32602,
      message: 'sandbox intent cannot be enforced on this executor: restricted file system',
    });
  });

  it('needs the directory that the environment names', async () => {
    const wire = await openSession(openServer({ env: { CODEX_HOME: '/nonexistent' } }));
    expect((await wire.request('capabilities/discoverV2', { cwd: 'file:///tmp' })).error).toEqual({
      code: -32603,
      message: 'failed to find Codex home: CODEX_HOME points to "/nonexistent", but that path does not exist',
    });
  });
});
