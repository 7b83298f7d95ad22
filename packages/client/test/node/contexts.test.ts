import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createCapabilityTokenPolicy, createExecServer } from '@exec-server/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { connect } from '../../src/node/connect.js';
import {
  contextsPath,
  findContext,
  isContextName,
  MAX_CONTEXTS_BYTES,
  readContexts,
  writeContexts,
} from '../../src/node/contexts.js';

async function openHome() {
  const directory = await mkdtemp(join(tmpdir(), 'contexts-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const env = { XDG_CONFIG_HOME: directory };
  const write = async (text: string, mode = 0o600) => {
    await mkdir(dirname(contextsPath(env)), { recursive: true });
    await writeFile(contextsPath(env), text);
    await chmod(contextsPath(env), mode);
  };
  return { directory, env, write };
}

const TOKEN = 'let me in';
const BOX = { url: 'wss://box.example:7711', tokenFile: '/secret/token', tlsCaFile: '/etc/ca.pem' };

describe('contexts', () => {
  it('come back as they were written, to a file of their user alone', async () => {
    const { env } = await openHome();
    expect(await readContexts(env)).toEqual({ current: undefined, contexts: {} });
    const contexts = { current: 'box', contexts: { box: BOX, 'here.1': { url: 'unix:///run/exec.sock' } } };
    await writeContexts(contexts, env);
    await writeContexts(contexts, env);
    expect(await readContexts(env)).toEqual(contexts);
    expect((await stat(contextsPath(env))).mode & 0o777).toBe(0o600);
    expect(await readFile(contextsPath(env), 'utf8')).toContain(
      '[contexts.box]\nurl = "wss://box.example:7711"\n',
    );
    expect(await findContext('box', env)).toEqual(BOX);
  });

  it('stand in the directory for configuration', () => {
    expect(contextsPath({ XDG_CONFIG_HOME: '/c', HOME: '/h' })).toBe('/c/exec-server/contexts.toml');
    for (const relative of [undefined, '', 'c'])
      expect(contextsPath({ XDG_CONFIG_HOME: relative, HOME: '/h' })).toBe(
        '/h/.config/exec-server/contexts.toml',
      );
  });

  it.each([
    ['x = [', /contexts.toml/],
    ['current = 7', /`current` must be a string/],
    ['contexts = 7', /`contexts` must be a table/],
    ['[contexts."a/b"]\nurl = "ws://x"', /`a\/b` cannot be a name/],
    ['[contexts.a]\ntoken-file = "x"', /`contexts.a` has no `url`/],
    ['[contexts.a]\nurl = "ws://x"\ntoken = "x"', /unknown key `token`/],
    ['[contexts.a]\nurl = 7', /`url` must be a string/],
  ])('that make no sense are refused: %j', async (text, message) => {
    const { env, write } = await openHome();
    await write(text);
    await expect(readContexts(env)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(message),
    });
  });

  it('that others can write are refused', async () => {
    const { env, write } = await openHome();
    for (const mode of [0o620, 0o602]) {
      await write('', mode);
      await expect(readContexts(env)).rejects.toThrow('can be written to by other users');
    }
    await write('', 0o644);
    expect((await readContexts(env)).contexts).toEqual({});
  });

  it.each([
    [MAX_CONTEXTS_BYTES - 1, true],
    [MAX_CONTEXTS_BYTES, true],
    [MAX_CONTEXTS_BYTES + 1, false],
  ])('of %i bytes are read: %s', async (bytes, isRead) => {
    const { env, write } = await openHome();
    await write(`#${'x'.repeat(bytes - 1)}`);
    const reading = readContexts(env);
    if (isRead) await expect(reading).resolves.toMatchObject({ contexts: {} });
    else await expect(reading).rejects.toMatchObject({ code: 'usage' });
  });

  it.each([
    ['box', true],
    ['a'.repeat(64), true],
    ['a'.repeat(65), false],
    ['ws://x', false],
    ['.hidden', false],
    ['a/b', false],
    ['', false],
  ])('%j is a name: %s', (name, isName) => {
    expect(isContextName(name)).toBe(isName);
  });
});

describe('connect by a name', () => {
  it('finds the server and its token', async () => {
    const { directory, env } = await openHome();
    vi.stubEnv('XDG_CONFIG_HOME', directory);
    onTestFinished(() => void vi.unstubAllEnvs());
    const tokenFile = join(directory, 'token');
    await writeFile(tokenFile, `${TOKEN}\n`);
    const server = createExecServer();
    onTestFinished(() => server.close());
    const digest = createHash('sha256').update(TOKEN).digest();
    const { url } = await server.listen('ws://127.0.0.1:0', { auth: createCapabilityTokenPolicy(digest) });
    await writeContexts({ current: undefined, contexts: { box: { url, tokenFile } } }, env);
    await using machine = await connect('box');
    expect((await machine.run(['echo', 'hi'])).stdout.text()).toBe('hi\n');
    await expect(connect('other')).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('there is no context `other`: there are box'),
    });
  });
});
