import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SpawnedCommand, StdioServer } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';

const COMMAND = [
  process.execPath,
  fileURLToPath(new URL('../../packages/cli/bin/exec-server.js', import.meta.url)),
];

/** The command in a directory that is removed before it begins. */
const IN_REMOVED = ['/bin/sh', '-c', 'rmdir "$PWD" && exec "$@"', 'sh', ...COMMAND];

function makeDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'removed-directory-'));
}

const start = (processId: string, changes: object = {}) => ({
  processId,
  argv: ['/bin/sh', '-c', 'echo ran'],
  cwd: 'file:///',
  env: {},
  tty: false,
  ...changes,
});

async function openServer(options: { readonly cwd: string; readonly command: readonly string[] }) {
  const server = new StdioServer({ ...options, args: ['serve', '--listen', 'stdio'] });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const { result } = await server.request('initialize', { clientName: 'test' });
  server.send({ method: 'initialized' });
  return {
    server,
    environment: (result?.environmentInfo ?? (await server.request('environment/info')).result) as {
      cwd?: string;
    },
  };
}

async function expectToWork(server: StdioServer) {
  for (const tty of [false, true]) {
    const processId = `tty ${tty}`;
    expect((await server.request('process/start', start(processId, { tty }))).error).toBeUndefined();
    const { params } = await server.next(
      ({ method, params: told }) => method === 'process/exited' && told?.processId === processId,
      `the exit of ${processId}`,
    );
    expect(params?.exitCode).toBe(0);
  }
  expect((await server.request('fs/getMetadata', { path: 'file:///' })).error).toBeUndefined();
}

describe('a server whose directory is gone', () => {
  it('before it starts says none, and works', async () => {
    const { server, environment } = await openServer({ cwd: await makeDirectory(), command: IN_REMOVED });
    expect(environment.cwd ?? null).toBeNull();
    await expectToWork(server);
  });

  it('later works', async () => {
    const cwd = await makeDirectory();
    const { server } = await openServer({ cwd, command: COMMAND });
    await rm(cwd, { recursive: true });
    await expectToWork(server);
  });

  it('refuses a start in a directory that is gone, and goes on', async () => {
    const cwd = await makeDirectory();
    const { server } = await openServer({ cwd: '/', command: COMMAND });
    await rm(cwd, { recursive: true });
    expect((await server.request('process/start', start('p', { cwd: `file://${cwd}` }))).error).toMatchObject(
      {
        code: -32603,
        message: 'No such file or directory (os error 2)',
      },
    );
    await expectToWork(server);
  });
});

describe('a command whose directory is gone', () => {
  const run = async (...args: string[]) => {
    const command = new SpawnedCommand({ command: IN_REMOVED, cwd: await makeDirectory(), args });
    command.stdin.end();
    command.stdout.resume();
    return { exit: await command.exited, stderr: command.stderr() };
  };

  it.each([[['run', '--', 'true']], [['run', '--cwd', 'relative', '--', 'true']]])(
    '%j says so, and what to do',
    async (args) => {
      const { exit, stderr } = await run(...args);
      expect(exit.code).not.toBe(0);
      expect(stderr).toContain(
        'Error: the current directory no longer exists. Change to one that does, and try again\n',
      );
    },
  );

  it.each([[['run', '--cwd', '/', '--', 'true']], [['ps']]])('%j needs none', async (args) => {
    expect(await run(...args)).toMatchObject({ exit: { code: 0 } });
  });
});
