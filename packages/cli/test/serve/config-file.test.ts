import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { readConfigFile } from '../../src/serve/config-file.js';

let path: string;
beforeEach(() => {
  const directory = mkdtempSync(join(tmpdir(), 'config-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  path = join(directory, 'exec-server.toml');
});

function read(content: string | Buffer) {
  writeFileSync(path, content);
  return readConfigFile(path);
}

it('takes every kind of setting under the name of its flag', () => {
  const content = `
    # a comment
    listen = ["ws://127.0.0.1:0", "unix:///tmp/x.sock"]
    ws-auth = "capability-token"
    allow-unauthenticated = true
    max-processes = 7
    shutdown-grace-ms = 0
    spill-dir = "/var/spill"
  `;
  const settings = {
    listen: ['ws://127.0.0.1:0', 'unix:///tmp/x.sock'],
    wsAuth: 'capability-token',
    allowUnauthenticated: true,
    maxProcesses: 7,
    shutdownGraceMs: 0,
    spillDir: '/var/spill',
  };
  expect(read(content)).toEqual(settings);
  expect(read(`\ufeff${content}`)).toEqual(settings);
  expect(read('')).toEqual({});
});

it.each([
  ['max_processes = 7', 'unknown key `max_processes`'],
  ['config = "x"', 'unknown key `config`'],
  ['__proto__ = 1', 'unknown key `__proto__`'],
  ['[limits]\nmax-processes = 7', 'unknown key `limits`'],
  ['max-processes = "7"', '`max-processes` must be a whole number from 1'],
  ['max-processes = 0', '`max-processes` must be a whole number from 1'],
  ['max-processes = 7.0', '`max-processes` must be a whole number from 1'],
  ['detached-session-ms = -1', '`detached-session-ms` must be a whole number'],
  ['listen = "stdio"', '`listen` must be an array of strings'],
  ['spill-dir = 1', '`spill-dir` must be a string'],
  ['allow-unauthenticated = "yes"', '`allow-unauthenticated` must be true or false'],
  ['ws-auth = "none"', '`ws-auth` must be "capability-token" or "signed-bearer-token"'],
])('refuses %j and names file and key', (content, problem) => {
  expect(() => read(content)).toThrow(new Error(`invalid configuration file ${path}: ${problem}`));
});

it('says where a file is no TOML', () => {
  expect(() => read('max-processes = 7\nlisten = [')).toThrow(
    `invalid configuration file ${path}: line 2, column `,
  );
  expect(() => read('a = 1\na = 2')).toThrow(`invalid configuration file ${path}: line 2, column `);
});

it('says why a file cannot be read', () => {
  expect(() => readConfigFile('/nope')).toThrow('failed to read /nope: ENOENT');
  expect(() => read(Buffer.from([0xff, 0xfe, 0x00]))).toThrow(`failed to read ${path}: `);
});
