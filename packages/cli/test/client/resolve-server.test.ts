import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveServer } from '../../src/client/resolve-server.js';
import { makeDirectory } from '../command-support.js';

const URL = 'ws://127.0.0.1:7711';
const directory = makeDirectory();

function makeFile(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

describe('which server', () => {
  it('is the one of the flag, or of the environment, or none', () => {
    const env = { EXEC_SERVER_URL: 'unix:///run/exec.sock' };
    expect(resolveServer({ connect: URL }, env).url).toBe(URL);
    expect(resolveServer({}, env).url).toBe(env.EXEC_SERVER_URL);
    expect(resolveServer({}, {}).url).toBeUndefined();
    expect(resolveServer({}, { EXEC_SERVER_URL: '' }).url).toBeUndefined();
  });
});

describe('which token', () => {
  const env = { EXEC_SERVER_TOKEN: 'of the environment' };

  it('is the one of the file, without the white space around it, or of the environment', () => {
    const tokenFile = makeFile('token', ' of the file\n');
    expect(resolveServer({ connect: URL, tokenFile }, env).dialOptions).toEqual({ token: 'of the file' });
    expect(resolveServer({ connect: URL }, env).dialOptions).toEqual({ token: 'of the environment' });
    expect(resolveServer({ connect: URL }, {}).dialOptions).toEqual({});
  });

  it('of the environment does not get in the way of a server that takes none', () => {
    expect(resolveServer({ connect: 'unix:///run/exec.sock' }, env).dialOptions).toEqual({});
    expect(resolveServer({}, env).dialOptions).toEqual({});
  });

  it('of a file is refused where it means nothing', () => {
    expect(() => resolveServer({ tokenFile: '/t' }, {})).toThrow(
      "the argument '--token-file <FILE>' needs a server: give '--connect <URL>' or set EXEC_SERVER_URL",
    );
    expect(() => resolveServer({ connect: 'unix:///s', tokenFile: '/t' }, {})).toThrow(
      "the argument '--token-file <FILE>' is for ws:// and wss:// only",
    );
  });

  it('must be there', () => {
    const tokenFile = makeFile('empty', '\n');
    expect(() => resolveServer({ connect: URL, tokenFile }, env)).toThrow('is empty');
    expect(() => resolveServer({ connect: URL, tokenFile: join(directory, 'no') }, env)).toThrow(
      'cannot read the file of --token-file: ENOENT',
    );
  });
});

it('authorities are read, for wss only', () => {
  const tlsCa = makeFile('ca.pem', 'PEM');
  expect(resolveServer({ connect: 'wss://box', tlsCa }, {}).dialOptions).toEqual({ tls: { ca: 'PEM' } });
  expect(() => resolveServer({ connect: URL, tlsCa }, {})).toThrow('is for wss:// only');
});
