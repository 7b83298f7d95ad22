import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeToPathUri, type SandboxContext, type SandboxEntry } from '@exec-server/protocol';
import {
  openWire,
  type RunningServer,
  requireProgram,
  skipFor,
  startServer,
  type Wire,
} from '@exec-server/testing';
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import type { BackendName } from '../../src/sandbox/backend.js';
import { READ_ROOT, requireBackend, rule, sandboxOf, VIEW_BACKENDS } from './sandbox.js';
import { canBecomeNobody, SERVER_USERS } from './server-users.js';

/** What a program came to. */
export interface Outcome {
  readonly exitCode: number;
  readonly output: string;
  readonly sandboxDenied: boolean;
}

/** Tries things inside of sandboxes of a server that runs as a certain user. Each test has a workspace of its own. */
export class ConfinedAttempts {
  server!: RunningServer;
  wire!: Wire;
  base!: string;
  #started = 0;

  constructor(readonly user: string) {}

  readonly inWorkspace = (name = ''): string => join(this.base, 'workspace', name);
  readonly outside = (name = ''): string => join(this.base, 'outside', name);
  /** In a directory that the server's user may write, and no sandbox unless it says so. */
  readonly ofServer = (name = ''): string => join(this.base, 'server', name);

  /** The sandbox of most tests: everything can be read, the workspace written, nobody reached. */
  readonly usual = (...more: readonly SandboxEntry[]): SandboxContext =>
    sandboxOf([READ_ROOT, rule(join(this.base, 'workspace'), 'write'), ...more]);

  readonly attempt = async (
    argv: readonly string[],
    sandbox = this.usual(),
    changes: object = {},
  ): Promise<Outcome> => {
    const processId = `attempt-${++this.#started}`;
    const answer = await this.wire.request('process/start', {
      processId,
      argv,
      cwd: `file://${join(this.base, 'workspace')}`,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' },
      tty: false,
      sandbox,
      ...changes,
    });
    expect(answer.result).toMatchObject({ sandboxType: 'linuxSeccomp' });
    const isOf = (method: string) => (message: { method?: string; params?: Record<string, unknown> }) =>
      message.method === method && message.params?.processId === processId;
    const exited = await this.wire.next(isOf('process/exited'), `${processId} to exit`);
    await this.wire.next(isOf('process/closed'), `${processId} to close`);
    const chunks = this.wire.received
      .filter(isOf('process/output'))
      .map(({ params }) => Buffer.from(params?.chunk as string, 'base64'));
    return {
      exitCode: exited.params?.exitCode as number,
      sandboxDenied: exited.params?.sandboxDenied as boolean,
      output: Buffer.concat(chunks).toString(),
    };
  };

  readonly shell = (script: string, sandbox?: SandboxContext, changes?: object): Promise<Outcome> =>
    this.attempt(['/bin/sh', '-c', script], sandbox, changes);

  readonly perl = (script: string, sandbox?: SandboxContext, changes?: object): Promise<Outcome> =>
    this.attempt(['perl', '-e', script], sandbox, changes);

  /** A request about a path under a sandbox. */
  readonly call = (method: string, path: string, sandbox: SandboxContext, params: object = {}) =>
    this.wire.request(method, { path: nativeToPathUri(path), ...params, sandbox });

  /** The text of a file, or the code of the refusal. */
  readonly read = async (path: string, sandbox: SandboxContext): Promise<string | number> => {
    const { result, error } = await this.call('fs/readFile', path, sandbox);
    return error?.code ?? Buffer.from(result?.dataBase64 as string, 'base64').toString();
  };

  /** The code of the refusal, if it is refused. */
  readonly write = async (path: string, sandbox: SandboxContext): Promise<number | undefined> => {
    const dataBase64 = Buffer.from('broken').toString('base64');
    return (await this.call('fs/writeFile', path, sandbox, { dataBase64 })).error?.code;
  };
}

export interface AttemptOptions {
  /** Added to the environment of the server. */
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of the server, which may write in the given directory. @default it listens on a WebSocket */
  readonly args?: (directory: string) => readonly string[];
  /** What confines. @default everything that makes sandboxes of whatever rules */
  readonly backends?: readonly BackendName[];
}

/** Runs tests against a server of each of {@link SERVER_USERS} with each of the backends. */
export function describeAttempts(
  { env = {}, args = () => [], backends = VIEW_BACKENDS }: AttemptOptions,
  body: (attempts: ConfinedAttempts) => void,
): void {
  const cases = Object.entries(SERVER_USERS).flatMap(([user, command]) =>
    backends.map((backend) => ({ user, command, backend })),
  );
  describe.each(cases)('as $user, by $backend', ({ user, command, backend }) => {
    const attempts = new ConfinedAttempts(user);
    let isStarted = false;

    beforeAll(async () => {
      const base = await mkdtemp(join(await realpath(tmpdir()), 'exec-server-escapes-'));
      attempts.base = base;
      await chmod(base, 0o755);
      if (user === 'nobody' && !canBecomeNobody(base)) return;
      // The server may be another user.
      await mkdir(attempts.ofServer());
      await chmod(attempts.ofServer(), 0o777);
      attempts.server = await startServer({
        command,
        env: { ...process.env, ...env },
        args: [...args(attempts.ofServer()), '--sandbox-backend', backend],
      });
      isStarted = true;
      attempts.wire = await openWire(attempts.server.url);
      await attempts.wire.request('initialize', { clientName: 'escapes' });
      attempts.wire.send({ method: 'initialized' });
    });

    beforeEach(async (test) => {
      await requireBackend(test, backend);
      requireProgram('perl', test);
      if (!isStarted) skipFor(test, 'root, and files that everybody may read');
      // A helper may be taking away what it had put there.
      await rm(attempts.inWorkspace(), { recursive: true, force: true, maxRetries: 10 });
      for (const directory of [attempts.inWorkspace(), attempts.outside()]) {
        await mkdir(directory, { recursive: true });
        await chmod(directory, 0o777);
      }
      await writeFile(attempts.outside('file'), 'untouched');
      await chmod(attempts.outside('file'), 0o666);
    });

    afterAll(async () => {
      if (isStarted) await attempts.server.stop();
      await rm(attempts.base, { recursive: true, force: true });
    });

    body(attempts);
  });
}
