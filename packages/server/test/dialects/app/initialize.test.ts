import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeInitialize, describeServer, locateCodexHome } from '../../../src/dialects/app/initialize.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

describe('the name of a client', () => {
  const decode = (name: string) => decodeInitialize({ clientInfo: { name, version: '1' } }).clientInfo.name;

  it.each(['', 'plain', 'a\tb', 'é'])('may be %j', (name) => {
    expect(decode(name)).toBe(name);
  });

  it.each(['a\nb', '\u007f', '\0'])('may not be %j', (name) => {
    expect(() => decode(name)).toThrow(
      expect.objectContaining({
        code: -32600,
        message: `Invalid clientInfo.name: '${name}'. Must be a valid HTTP header value.`,
      }),
    );
  });
});

it('a version that no header can have is replaced where it has to be', () => {
  const { userAgent } = describeServer({ name: 'n', version: '1\né(x)' }, '/');
  expect(userAgent).toMatch(/ \(n; 1__\(x\)\)$/);
});

describe('codexHome', () => {
  const find = (env: Record<string, string>) => locateCodexHome(env);

  it('is where CODEX_HOME leads, or would', async () => {
    const directory = await makeTempDirectory();
    await mkdir(join(directory, 'real'));
    await symlink('real', join(directory, 'link'));
    expect(find({ CODEX_HOME: join(directory, 'link') })).toBe(join(directory, 'real'));
    expect(find({ CODEX_HOME: join(directory, 'x', '..', 'missing') })).toBe(join(directory, 'missing'));
  });

  it('is in the home directory otherwise', () => {
    expect(find({ HOME: '/home/somebody', CODEX_HOME: '' })).toBe('/home/somebody/.codex');
  });
});
