import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeToPathUri, type SandboxContext } from '@exec-server/protocol';
import { openWire, type RunningServer, skipFor, startServer, type Wire } from '@exec-server/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pattern, READ_ROOT, requireBackend, rule, sandboxOf, VIEW_BACKENDS } from '../../support/sandbox.js';
import { canBecomeNobody, SERVER_USERS } from '../../support/server-users.js';
import { makeSwappable, startSwapping } from '../../support/swapping-thread.js';

const SECRET = 'secret';
const MINE = 'mine';
/** Calls that a race is run for; those that change something wait for each other. */
const RACING_READS = 1_000;
const RACING_WRITES = 300;
/** Longest that a race may take on a slow machine, in milliseconds. */
const RACE_TIMEOUT_MS = 120_000;
const IN_FLIGHT = 8;
/** The same where every change under the sandbox makes a new one. */
const REMAKING_CALLS = 5;

const CASES = Object.entries(SERVER_USERS).flatMap(([user, command]) =>
  VIEW_BACKENDS.map((backend) => ({ user, command, backend })),
);

describe.each(CASES)('as $user, by $backend', ({ user, command, backend }) => {
  let server: RunningServer | undefined;
  let wire: Wire;
  let base: string;
  const inWorkspace = (name = '') => join(base, 'workspace', name);
  const outside = (name = '') => join(base, 'outside', name);

  beforeAll(async () => {
    base = await mkdtemp(join(await realpath(tmpdir()), 'exec-server-file-escapes-'));
    chmodSync(base, 0o755);
    if (user === 'nobody' && !canBecomeNobody(base)) return;
    server = await startServer({ command: [...command, '--sandbox-backend', backend] });
    wire = await openWire(server.url);
    await wire.request('initialize', { clientName: 'escapes' });
    wire.send({ method: 'initialized' });
  });

  beforeEach(async (test) => {
    await requireBackend(test, backend);
    if (server === undefined) skipFor(test, 'root, and files that everybody may read');
    for (const directory of [inWorkspace(), outside()]) {
      // A helper may be taking away what it had put there.
      rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
      mkdirSync(directory);
      // The server may be another user.
      chmodSync(directory, 0o777);
    }
    put(inWorkspace('file'), MINE);
    put(outside('file'), SECRET);
  });

  afterAll(async () => {
    await server?.stop();
    await rm(base, { recursive: true, force: true });
  });

  function put(path: string, text: string): void {
    writeFileSync(path, text);
    chmodSync(path, 0o666);
  }

  /** Nothing but the workspace is there, and it may be written. */
  const alone = () => sandboxOf([rule(inWorkspace(), 'write')]);
  /** Everything may be read, the workspace written, and what `more` says. */
  const usual = (...more: Parameters<typeof sandboxOf>[0]) =>
    sandboxOf([READ_ROOT, rule(inWorkspace(), 'write'), ...more]);

  const call = (method: string, path: string, sandbox: SandboxContext, params: object = {}) =>
    wire.request(method, { path: nativeToPathUri(path), ...params, sandbox });

  /** The text of a file, or the code of the refusal. */
  async function read(path: string, sandbox: SandboxContext): Promise<string | number> {
    const { result, error } = await call('fs/readFile', path, sandbox);
    return error?.code ?? Buffer.from(result?.dataBase64 as string, 'base64').toString();
  }

  async function write(path: string, sandbox: SandboxContext): Promise<number | undefined> {
    const dataBase64 = Buffer.from('broken').toString('base64');
    return (await call('fs/writeFile', path, sandbox, { dataBase64 })).error?.code;
  }

  /** Calls with a path that leads through a directory of the workspace and through a link out by turns. */
  async function race<T>(calls: number, attempt: (path: string) => Promise<T>): Promise<Map<T, number>> {
    makeSwappable(inWorkspace('swap'), outside());
    chmodSync(inWorkspace('swap'), 0o777);
    put(inWorkspace('swap/file'), MINE);
    startSwapping(inWorkspace('swap'));
    const answers = new Map<T, number>();
    const work = async () => {
      for (let done = 0; done < calls / IN_FLIGHT; done++) {
        const answer = await attempt(inWorkspace('swap/file'));
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, work));
    return answers;
  }

  it('reads and writes where it may, so that what follows means something', async () => {
    expect(await read(inWorkspace('file'), alone())).toBe(MINE);
    expect(await write(inWorkspace('new'), alone())).toBeUndefined();
    expect(readFileSync(inWorkspace('new'), 'utf8')).toBe('broken');
  });

  it('reaches nothing outside: by path, through links, `..` in them, and /proc', async () => {
    symlinkSync(outside(), inWorkspace('link'));
    symlinkSync('../outside', inWorkspace('up'));
    symlinkSync('/proc/self/root', inWorkspace('root'));
    const ways = [
      outside('file'),
      inWorkspace('link/file'),
      inWorkspace('up/file'),
      inWorkspace(`root${outside('file')}`),
      `/proc/self/root${outside('file')}`,
      `/proc/1/root${outside('file')}`,
      `/proc/self/cwd${outside('file')}`,
      `/proc/2/root${outside('file')}`,
      `/proc/${process.pid}/root${outside('file')}`,
    ];
    for (const way of ways) {
      expect([way, await read(way, alone())]).toEqual([way, expect.any(Number)]);
      expect([way, await write(way, usual())]).toEqual([way, expect.any(Number)]);
      const copied = await wire.request('fs/copy', {
        sourcePath: nativeToPathUri(way),
        destinationPath: nativeToPathUri(inWorkspace('copy')),
        recursive: true,
        sandbox: alone(),
      });
      expect([way, copied.error?.code]).toEqual([way, expect.any(Number)]);
    }
    expect(readFileSync(outside('file'), 'utf8')).toBe(SECRET);
  });

  it('does not move what is outside in, or what is inside out', async () => {
    const move = async (from: string, to: string) => {
      const params = {
        sourcePath: nativeToPathUri(from),
        destinationPath: nativeToPathUri(to),
        sandbox: usual(),
      };
      return (await wire.request('fs/rename', params)).error?.code;
    };
    expect(await move(outside('file'), inWorkspace('stolen'))).toBe(-32603);
    expect(await move(inWorkspace('file'), outside('file'))).toBe(-32603);
    expect(readFileSync(outside('file'), 'utf8')).toBe(SECRET);
  });

  it('never reads outside while a directory and a link out take turns', {
    timeout: RACE_TIMEOUT_MS,
  }, async () => {
    const seen = await race(RACING_READS, (path) => read(path, alone()));
    expect(seen.get(SECRET)).toBeUndefined();
    // Both were met: what the link would lead to, and what it makes way for.
    expect(seen.get(MINE)).toBeGreaterThan(0);
    expect(seen.get(-32004)).toBeGreaterThan(0);
  });

  it('never writes outside meanwhile', { timeout: RACE_TIMEOUT_MS }, async () => {
    const seen = await race(RACING_WRITES, (path) => write(path, usual()));
    expect(readFileSync(outside('file'), 'utf8')).toBe(SECRET);
    expect(seen.get(undefined)).toBeGreaterThan(0);
    expect(seen.get(-32603)).toBeGreaterThan(0);
  });

  it('a file that is denied in a writable directory is neither read, written, moved nor removed', async () => {
    put(inWorkspace('.env'), SECRET);
    const sandbox = usual(rule(inWorkspace('.env'), 'deny'));
    symlinkSync('.env', inWorkspace('alias'));
    for (const name of ['.env', 'alias']) {
      expect(await read(inWorkspace(name), sandbox)).toBe(-32600);
      expect(await write(inWorkspace(name), sandbox)).toEqual(expect.any(Number));
    }
    const renamed = await wire.request('fs/rename', {
      sourcePath: nativeToPathUri(inWorkspace('.env')),
      destinationPath: nativeToPathUri(inWorkspace('moved')),
      sandbox,
    });
    expect(renamed.error?.code).toBe(-32603);
    expect((await call('fs/remove', inWorkspace('.env'), sandbox)).error?.code).toBe(-32603);
    expect(readFileSync(inWorkspace('.env'), 'utf8')).toBe(SECRET);
  });

  it('a denied file stays hidden when it is replaced, as editors do', async () => {
    put(inWorkspace('.env'), 'old');
    const sandbox = usual(rule(inWorkspace('.env'), 'deny'));
    expect(await read(inWorkspace('.env'), sandbox)).toBe(-32600);
    put(inWorkspace('.env.tmp'), SECRET);
    renameSync(inWorkspace('.env.tmp'), inWorkspace('.env'));
    expect(await read(inWorkspace('.env'), sandbox)).toBe(-32600);
    expect(await write(inWorkspace('.env'), sandbox)).toEqual(expect.any(Number));
  });

  it('never reads a denied file while it is being replaced', async () => {
    put(inWorkspace('.env'), SECRET);
    put(inWorkspace('.env-aside'), SECRET);
    const sandbox = usual(rule(inWorkspace('.env'), 'deny'));
    let over = false;
    const replacing = (async () => {
      while (!over) {
        put(inWorkspace('.env.tmp'), SECRET);
        renameSync(inWorkspace('.env.tmp'), inWorkspace('.env'));
        await new Promise(setImmediate);
      }
    })();
    for (let calls = 0; calls < REMAKING_CALLS; calls++)
      expect(await read(inWorkspace('.env'), sandbox)).toEqual(expect.any(Number));
    over = true;
    await replacing;
  });

  it('a file that appears later where a rule or a pattern denies it is hidden', async () => {
    const sandbox = usual(rule(inWorkspace('later'), 'deny'), pattern(`${inWorkspace()}/**/*.key`, 'deny'));
    expect(await read(inWorkspace('file'), sandbox)).toBe(MINE);
    mkdirSync(inWorkspace('deep'));
    for (const name of ['later', 'a.key', 'deep/b.key']) {
      put(inWorkspace(name), SECRET);
      expect([name, await read(inWorkspace(name), sandbox)]).toEqual([name, -32600]);
    }
    expect(await read(inWorkspace('file'), sandbox)).toBe(MINE);
  });

  it('what is protected below a writable directory stays so when it is made anew', async () => {
    mkdirSync(inWorkspace('.git'));
    chmodSync(inWorkspace('.git'), 0o777);
    expect(await write(inWorkspace('.git/config'), usual())).toBe(-32603);
    renameSync(inWorkspace('.git'), inWorkspace('old'));
    mkdirSync(inWorkspace('.git'));
    chmodSync(inWorkspace('.git'), 0o777);
    expect(await write(inWorkspace('.git/config'), usual())).toBe(-32603);
  });

  it('a helper cannot be changed through /proc', async () => {
    for (const path of ['/proc/self/mem', '/proc/self/oom_score_adj', '/proc/self/comm'])
      expect([path, await write(path, usual())]).toEqual([path, -32603]);
  });
});
