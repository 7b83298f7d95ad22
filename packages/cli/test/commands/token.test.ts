import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@exec-server/client';
import { createExecServer, loadAuthPolicy } from '@exec-server/server';
import { expect, it, onTestFinished } from 'vitest';
import { makeDirectory, runCommand } from '../command-support.js';
import { FakeIo } from '../support.js';

const directory = makeDirectory();

async function makeToken(...args: string[]) {
  const { code, stdout, stderr } = await runCommand(['token', '--json', ...args]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as { token?: string; file?: string; sha256: string };
}

async function listenFor(tokenSha256: string): Promise<string> {
  const server = createExecServer();
  onTestFinished(() => server.close());
  const auth = loadAuthPolicy({ mode: 'capability-token', tokenSha256 });
  return (await server.listen('ws://127.0.0.1:0', auth && { auth })).url;
}

it('makes a token that opens the server which knows its digest, and no other one', async () => {
  const { token = '', sha256 } = await makeToken();
  const url = await listenFor(sha256);
  const machine = await connect(url, { token });
  expect(machine.sessionId).toBeDefined();
  await machine.close();
  const { token: other = '' } = await makeToken();
  await expect(connect(url, { token: other })).rejects.toMatchObject({ code: 'connect_failed' });
});

it('can be written to a new file that only the owner reads, and is not shown then', async () => {
  const file = join(directory, 'secret');
  const made = await makeToken('--file', file);
  expect(made).toEqual({ file, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const url = await listenFor(made.sha256);
  const listed = await runCommand(['ps', '--json', '--connect', url, '--token-file', file]);
  expect(listed).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
});

it('overwrites no file', async () => {
  const file = join(directory, 'taken');
  writeFileSync(file, 'precious');
  const { code, stdout, stderr } = await runCommand(['token', '--file', file]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe(
    `Error: ${file} is there already and is not overwritten\n` +
      'Name another file, or remove that one if nobody needs its token any more.\n',
  );
  expect(readFileSync(file, 'utf8')).toBe('precious');
});

it('says that a file cannot be written', async () => {
  const { code, stderr } = await runCommand(['token', '--file', join(directory, 'no', 'such')]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Error: cannot write the token: ENOENT/);
});

it('explains its use to a person, beside what can be piped', async () => {
  const piped = await runCommand(['token']);
  expect(piped.stdout).toMatch(/^token {3}[\w-]{43}\nsha256 {2}[0-9a-f]{64}\n$/);
  expect(piped.stderr).toBe('');
  const io = new FakeIo();
  io.stdout.isTTY = true;
  const { stdout, stderr } = await runCommand(['token'], io);
  const token = /token +(\S+)/.exec(stdout)?.[1] ?? '';
  expect(stderr).toContain('--ws-auth capability-token --ws-token-sha256');
  expect(stderr).not.toContain(token);
});
