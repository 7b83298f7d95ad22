import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { makeFileTree } from '../../support/file-tree.js';
import { openServer, openSession } from '../../support/session.js';

const read = { cwd: 'file:///tmp', configPaths: [['model']], requirementsPaths: [] };

describe('environmentConfig/read', () => {
  it('says who and where it reads for, and what it found', async () => {
    const root = await makeFileTree({ 'codex/config.toml': 'model = "m"\n[mcp_servers.a]\nurl = "u"\n' });
    const env = { HOME: `${root}/home`, CODEX_HOME: `${root}/codex` };
    const wire = await openSession(openServer({ env }));
    const configPaths = [['model'], ['mcp_servers']];
    expect((await wire.request('environmentConfig/read', { ...read, configPaths })).result).toEqual({
      userHomeDir: `file://${root}/home`,
      codexHomeDir: `file://${root}/codex`,
      hostname: hostname(),
      config: {
        layers: [
          {
            source: `user (${root}/codex/config.toml)`,
            baseDir: `file://${root}/codex`,
            toml: 'model = "m"\n\n[mcp_servers.a]\nurl = "u"\n',
          },
        ],
        cloudInsertionIndex: 0,
      },
      requirements: { layers: [], cloudInsertionIndex: 0 },
    });
  });

  it.each([
    [{ configPaths: [] }, -32602, 'at least one config or requirements path is required'],
    [{ configPaths: [[]] }, -32602, 'TOML paths must contain at least one key segment'],
    [{ requirementsPaths: [[]] }, -32602, 'TOML paths must contain at least one key segment'],
    [{ cwd: 'file://h/x' }, -32602, "'file://h/x' is invalid on 'linux'"],
  ])('refuses %j', async (changes, code, message) => {
    const wire = await openSession(openServer());
    expect((await wire.request('environmentConfig/read', { ...read, ...changes })).error).toMatchObject({
      code,
      message,
    });
  });

  it('fails with the reason', async () => {
    const root = await makeFileTree({ 'config.toml': 'model = m\n' });
    const broken = await openSession(openServer({ env: { CODEX_HOME: root } }));
    expect((await broken.request('environmentConfig/read', read)).error).toMatchObject({
      code: -32603,
      message: `failed to load executor-local config: ${root}/config.toml:1:9: invalid value`,
    });
    const homeless = await openSession(openServer({ env: { CODEX_HOME: '/nonexistent' } }));
    expect((await homeless.request('environmentConfig/read', read)).error).toMatchObject({
      code: -32603,
      message: 'failed to find Codex home: CODEX_HOME points to "/nonexistent", but that path does not exist',
    });
  });
});
