import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { begin, openAppClient, runScript, watchAudit } from '../../support/app-client.js';
import { openServer } from '../../support/session.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

const PATH = '/usr/local/bin:/usr/bin:/bin';
const open = (options: Parameters<typeof openServer>[0] = {}) => openAppClient(openServer(options));

describe('the environment of a command', () => {
  const env = {
    PATH,
    HOME: '/home/somebody',
    INHERITED: 'yes',
    MY_TOKEN: 't',
    EXEC_SERVER_TOKEN: 'ours',
    NODE_REPL_AUTH_TOKEN: 'theirs',
  };
  const show = 'echo "$INHERITED $NEW $(printenv HOME || echo unset) $MY_TOKEN"';

  it('is that of the server, with what the request adds and without what it removes', async () => {
    const wire = await open({ env });
    expect((await runScript(wire, show)).result?.stdout).toBe('yes  /home/somebody t\n');
    const changes = { env: { NEW: 'n', HOME: null, INHERITED: '' } };
    expect((await runScript(wire, show, changes)).result?.stdout).toBe(' n unset t\n');
  });

  it('never has what belongs to executors alone, even if the request sets it', async () => {
    const wire = await open({ env });
    const names = 'EXEC_SERVER_TOKEN NODE_REPL_AUTH_TOKEN OPENAI_IDENTITY_TOKEN_FILE';
    const script = `for name in ${names}; do printenv $name || echo unset; done`;
    const changes = { env: { NODE_REPL_AUTH_TOKEN: 'x', OPENAI_IDENTITY_TOKEN_FILE: 'y' } };
    expect((await runScript(wire, script, changes)).result?.stdout).toBe('unset\nunset\nunset\n');
  });

  it('says where the program is looked for, and without a PATH the usual places are', async () => {
    const wire = await open({ env });
    const run = (value: string | null) =>
      wire.request('command/exec', { command: ['echo', 'found'], env: { PATH: value } });
    expect((await run(null)).result?.stdout).toBe('found\n');
    expect((await run('/nowhere')).error).toMatchObject({
      code: -32603,
      message: 'failed to spawn command: No such file or directory (os error 2)',
    });
  });
});

describe('the working directory of a command', () => {
  const pwd = async (cwd: string) => {
    const wire = await open();
    return (await wire.request('command/exec', { command: ['pwd'], cwd })).result?.stdout;
  };

  it("is the server's own, or counts from there", async () => {
    expect(await pwd('')).toBe(`${process.cwd()}\n`);
    expect(await pwd('..')).toBe(`${join(process.cwd(), '..')}\n`);
    expect(await pwd('/tmp/../usr')).toBe('/usr\n');
  });

  it.each([false, true])('that is missing is an error, on a terminal (%s) too', async (tty) => {
    const wire = await open();
    const { error } = await wire.request('command/exec', {
      command: ['pwd'],
      cwd: '/no/such/dir',
      processId: 'p',
      tty,
    });
    expect(error).toMatchObject({
      code: -32603,
      message: 'failed to spawn command: No such file or directory (os error 2)',
    });
  });
});

describe('what cannot be started', () => {
  it.each([
    [{ command: ['no-such-xyz'] }, 'No such file or directory (os error 2)'],
    [{ command: [''] }, 'missing program for pipe spawn'],
    [{ command: [''], tty: true }, 'missing program for PTY spawn'],
    [{ command: ['a\0b'] }, 'nul byte found in provided data'],
    [{ command: ['true'], cwd: 'a\0b' }, 'nul byte found in provided data'],
    [{ command: ['/tmp'] }, 'Permission denied (os error 13)'],
    [
      { command: ['no-such-xyz'], tty: true },
      `Unable to spawn no-such-xyz because:\nNo viable candidates found in PATH "${PATH}"`,
    ],
  ])('%j says why', async (params, reason) => {
    const wire = await open({ env: { PATH } });
    expect((await wire.request('command/exec', { processId: 'p', ...params })).error).toMatchObject({
      code: -32603,
      message: `failed to spawn command: ${reason}`,
    });
  });

  it('a file that is no program, or a directory that is a file, say so', async () => {
    const wire = await open();
    const file = join(await makeTempDirectory(), 'text');
    await writeFile(file, 'no program\n', { mode: 0o755 });
    const message = async (params: object) => (await wire.request('command/exec', params)).error?.message;
    expect(await message({ command: [file] })).toBe(
      'failed to spawn command: Exec format error (os error 8)',
    );
    expect(await message({ command: ['pwd'], cwd: file })).toBe(
      'failed to spawn command: Not a directory (os error 20)',
    );
  });
});

describe('what the server allows', () => {
  it('a server without direct execution starts nothing here', async () => {
    const wire = await open({ allowDirectExec: false });
    const error = { code: -32600, message: 'direct execution is not allowed on this server' };
    expect((await wire.request('command/exec', { command: ['true'] })).error).toMatchObject(error);
    const params = { command: ['true'], processHandle: 'p', cwd: '/tmp' };
    expect((await wire.request('process/spawn', params)).error).toMatchObject(error);
  });

  it('one process more than may run at once is refused, and may run when another has ended', async () => {
    const wire = await open({ maxProcessesPerConnection: 1 });
    const flags = { processId: 'p', streamStdin: true, disableTimeout: true };
    const first = begin(wire, 'command/exec', { command: ['cat'], ...flags });
    expect((await runScript(wire, 'exit 0')).error).toMatchObject({
      code: -32600,
      message: 'this session has its limit of 1 processes',
    });
    await wire.request('command/exec/write', { processId: 'p', closeStdin: true });
    await first();
    expect((await runScript(wire, 'exit 0')).result).toMatchObject({ exitCode: 0 });
  });

  it('requests beyond its limit are refused, and control is not', async () => {
    const wire = await open({ pendingRequests: 2 });
    const flags = { streamStdin: true, disableTimeout: true };
    const answers = ['a', 'b'].map((processId) =>
      begin(wire, 'command/exec', { command: ['cat'], processId, ...flags }),
    );
    expect((await runScript(wire, 'exit 0')).error).toMatchObject({
      code: -32001,
      message: 'Server overloaded; retry later.',
    });
    for (const processId of ['a', 'b']) await wire.request('command/exec/terminate', { processId });
    for (const answer of answers) expect((await answer()).result).toMatchObject({ exitCode: 137 });
  });

  it('starts, ends and refusals are on record', async () => {
    const audit = watchAudit();
    const wire = await open({ auditLog: audit.auditLog });
    await runScript(wire, 'exit 3', { cwd: '/tmp', processId: 'mine' });
    await wire.request('command/exec', { command: ['/no/such'], cwd: '/tmp' });
    expect(audit.events).toMatchObject([
      { event: 'process-started', processId: 'command/exec "mine"', cwd: 'file:///tmp', tty: false },
      { event: 'process-ended', processId: 'command/exec "mine"', exitCode: 3 },
      { event: 'process-refused', processId: 'command/exec 1', argv: ['/no/such'] },
    ]);
  });
});

it('a command that runs does not hold up changes to files', async () => {
  const wire = await open();
  const directory = await makeTempDirectory();
  await mkdir(join(directory, 'a'));
  begin(wire, 'command/exec', { command: ['sleep', '60'], processId: 'p', disableTimeout: true });
  const answer = await wire.request('fs/remove', { path: join(directory, 'a') });
  expect(answer.result).toEqual({});
});
