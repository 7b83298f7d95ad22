import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning, requireProgram, waitForProcessGone } from '@exec-server/testing';
import { beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { CAPTURE_TIMEOUT_MS } from '../../src/shell-snapshot/run-capture.js';
import {
  CAPTURE_RETRY_MS,
  MAX_CAPTURE_ATTEMPTS,
  MAX_SNAPSHOTS_PER_SESSION,
} from '../../src/shell-snapshot/shell-snapshots.js';
import { FakeClock } from '../support/fake-clock.js';
import { addFiles, makeFileTree } from '../support/file-tree.js';
import { openServer, openSession, startParams, untilClosed } from '../support/session.js';

type Wire = Awaited<ReturnType<typeof openSession>>;
const PATH = '/usr/local/bin:/usr/bin:/bin';

/** Each line of the file is a login. */
const COUNT = 'echo login >>"$HOME/logins"\n';

let home: string;
beforeEach(async () => {
  home = await makeFileTree({});
});

const profile = (text: string, file = '.bash_profile') => addFiles(home, { [file]: COUNT + text });
const logins = () => {
  const path = join(home, 'logins');
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
};

const params = (
  processId: string,
  script: string,
  changes: object = {},
  shell = { name: 'bash', path: '/bin/bash' },
) =>
  startParams(processId, [shell.path, '-lc', script], {
    cwd: `file://${home}`,
    env: { PATH, HOME: home },
    shellSnapshot: { scopeId: 'scope', shell },
    ...changes,
  });

let started = 0;
/** Runs a script from a snapshot and tells what it printed. */
async function run(wire: Wire, script: string, changes: object = {}, shell?: { name: string; path: string }) {
  const id = `p${++started}`;
  const { error } = await wire.request('process/start', params(id, script, changes, shell));
  if (error !== undefined) throw new Error(error.message);
  const { stdout, stderr, pty, exitCode } = await untilClosed(wire, id);
  return { stdout: stdout.toString(), stderr: stderr.toString(), pty: pty.toString(), exitCode };
}
const print = async (
  wire: Wire,
  script: string,
  changes: object = {},
  shell?: { name: string; path: string },
) => (await run(wire, script, changes, shell)).stdout;

describe('a snapshot of bash', () => {
  it('restores functions, aliases, options, the umask and exported variables', async () => {
    await profile(
      'export FROM="two\nlines"\nhelper() { echo "helped $1"; }\nexport -f helper\nalias hi="echo hello"\n' +
        'shopt -s expand_aliases extglob\nset -o pipefail\numask 027\n' +
        'strip() { case $1 in a+(x)) echo matched ;; esac; }\necho noise\necho noise >&2\n',
    );
    const wire = await openSession(openServer());
    const script =
      'echo "$FROM"; helper you; hi there; false | true; echo $?; umask; strip axx; bash -c "helper child"';
    const expected = 'two\nlines\nhelped you\nhello there\n1\n0027\nmatched\nhelped child\n';
    for (const round of [1, 2]) {
      expect(await run(wire, script), `round ${round}`).toMatchObject({
        stdout: expected,
        stderr: '',
        exitCode: 0,
      });
    }
    expect(logins()).toBe(1);
  });

  it('runs the script as a login shell would', async () => {
    await profile('');
    const wire = await openSession(openServer());
    const login = async (script: string, args: string[] = []) => {
      const id = `l${++started}`;
      const argv = ['/bin/bash', '-lc', script, ...args];
      await wire.request('process/start', { ...params(id, ''), argv, shellSnapshot: null });
      const { stdout, exitCode } = await untilClosed(wire, id);
      return [stdout.toString(), exitCode];
    };
    for (const [script, ...args] of [
      ['echo "$- $0 $# $*"'],
      ['echo "$- $0 $# $*"', 'zero', 'one', 'two three'],
      ['shopt -p; set +o; env | grep -v -e ^_= -e ^PATH= | sort; echo $PWD'],
      ['exit 7'],
      ['kill -TERM $$'],
      ['cat; echo end'],
      ['ls -l /proc/self/fd | wc -l'],
      ['syntax error ('],
      [''],
    ] as string[][]) {
      const id = `s${++started}`;
      const argv = ['/bin/bash', '-lc', script!, ...args];
      await wire.request('process/start', { ...params(id, ''), argv });
      const { stdout, exitCode } = await untilClosed(wire, id);
      expect([stdout.toString(), exitCode], script).toEqual(await login(script!, args));
    }
  });

  it('leaves stdin and the terminal to the script', async () => {
    await profile('export FROM=profile\n');
    const wire = await openSession(openServer());
    await wire.request('process/start', params('in', 'read line; echo "got $line"', { pipeStdin: true }));
    await wire.request('process/write', {
      processId: 'in',
      chunk: Buffer.from('hello\n').toString('base64'),
    });
    expect((await untilClosed(wire, 'in')).stdout.toString()).toBe('got hello\n');
    expect((await run(wire, 'tty >/dev/null && echo "$FROM"', { tty: true })).pty).toBe('profile\r\n');
  });

  it('keeps the state out of sight: no file, no argument, no descriptor', async () => {
    await profile('secret() { echo canary-in-function; }\n');
    const wire = await openSession(openServer());
    const script = 'tr "\\0" " " </proc/$$/cmdline; env; ls -l /proc/$$/fd; ls -A "$HOME"';
    const { stdout } = await run(wire, script);
    expect(stdout).not.toMatch(/canary|memfd/);
    expect(stdout).toMatch(/\.bash_profile\nlogins\n$/);
  });

  it('sees nothing of what merely sounds like its own', async () => {
    await profile(
      'declare() { echo fake; }\nprintf() { echo fake; }\nalias builtin="echo fake"\nshopt -s expand_aliases\nset -u\n',
    );
    const wire = await openSession(openServer());
    expect(await print(wire, 'echo ok')).toBe('ok\n');
    expect(await print(wire, 'echo ok')).toBe('ok\n');
    expect(logins()).toBe(1);
  });
});

describe('variables', () => {
  it('of the request win, and those of an earlier request do not linger', async () => {
    await profile('export FROM=profile\n');
    const wire = await openSession(openServer());
    const env = { PATH, HOME: home };
    expect(await print(wire, 'echo "$FROM $OWN"', { env: { ...env, OWN: 'first' } })).toBe('profile first\n');
    expect(await print(wire, 'echo "$FROM"; env | grep -c ^OWN', { env: { ...env, FROM: 'request' } })).toBe(
      'request\n0\n',
    );
    expect(logins()).toBe(1);
  });

  it('that the login takes away are gone', async () => {
    await profile('unset DROP\n');
    const envPolicy = { inherit: 'all', ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] };
    const wire = await openSession(openServer({ env: { PATH, HOME: home, DROP: 'server' } }));
    expect(await print(wire, 'env | grep -c ^DROP', { env: {}, envPolicy })).toBe('0\n');
    expect(await print(wire, 'echo "$DROP"', { env: { DROP: 'own' }, envPolicy })).toBe('own\n');
  });

  it('pass the filters of the policy again', async () => {
    await profile('export A_TOKEN=1 B=2 C=3 SET=profile NODE_REPL_AUTH_TOKEN=4\n');
    const policy = {
      inherit: 'core',
      ignoreDefaultExcludes: false,
      exclude: ['C'],
      set: { SET: 'policy' },
      includeOnly: [],
    };
    const wire = await openSession(openServer({ env: { PATH, HOME: home } }));
    const script = 'echo "$A_TOKEN|$B|$C|$SET|$NODE_REPL_AUTH_TOKEN"';
    const show = (changes: object) => print(wire, script, { env: {}, envPolicy: { ...policy, ...changes } });
    expect(await show({})).toBe('|2||policy|\n');
    expect(await show({ ignoreDefaultExcludes: true, exclude: [] })).toBe('1|2|3|policy|\n');
    expect(await show({ includeOnly: ['PATH', 'HOME', 'B'] })).toBe('|2|||\n');
  });
});

describe('other shells', () => {
  it('sh keeps aliases, options and variables', async () => {
    await profile('export FROM=profile\nalias hi="echo hello"\nset -u\numask 077\n', '.profile');
    const wire = await openSession(openServer());
    const sh = { name: 'sh', path: '/bin/sh' };
    const argv = [
      '/bin/sh',
      '-lc',
      'hi "$FROM $0 $1 $# $(umask)"; echo $-; (echo "$NONE") 2>/dev/null || echo unset',
      'zero',
      'one',
    ];
    for (const _ of [1, 2]) {
      expect(await print(wire, '', { argv }, sh)).toMatch(/^hello profile zero one 1 0077\n.*u.*\nunset\n$/);
    }
    expect(await print(wire, 'echo "$0 $#"', {}, sh)).toBe('/bin/sh 0\n');
    expect(await run(wire, 'exit 3', {}, sh)).toMatchObject({ exitCode: 3 });
    expect(logins()).toBe(1);
  });

  it('zsh keeps functions, aliases, options and variables', async (test: TestContext) => {
    const zsh = { name: 'zsh', path: requireProgram('zsh', test) };
    await profile(
      'export FROM=profile\nhelper() { echo "helped $1"; }\nalias hi="echo hello"\nalias -g PIPED="| cat -n"\n' +
        'setopt extendedglob\nautoload -Uz is-at-least\n',
      '.zprofile',
    );
    const wire = await openSession(openServer());
    const script =
      'hi "$FROM $0 $1"; helper you; echo x PIPED; [[ -o extendedglob && -o login && -o rcs ]] && echo set; is-at-least 1 && echo loaded; echo $-';
    const argv = [zsh.path, '-lc', script, 'zero', 'one'];
    const login = await print(wire, '', { argv, shellSnapshot: null }, zsh);
    for (const _ of [1, 2]) expect(await print(wire, '', { argv }, zsh)).toBe(login);
    expect(login).toContain('hello profile zero one\nhelped you\n     1\tx\nset\nloaded\n');
    expect(logins()).toBe(2);
    expect(await run(wire, 'return 3', {}, zsh)).toMatchObject({ exitCode: 3 });
  });
});

describe('captures', () => {
  it('are shared by commands that come meanwhile', async () => {
    await profile('read -r _ <"$HOME/gate"\nexport FROM=profile\n');
    execFileSync('mkfifo', [join(home, 'gate')]);
    const wire = await openSession(openServer());
    const runs = [1, 2, 3].map(() => print(wire, 'echo $FROM'));
    await addFiles(home, { gate: 'go\n' });
    expect(await Promise.all(runs)).toEqual(['profile\n', 'profile\n', 'profile\n']);
    expect(logins()).toBe(1);
  });

  it('are made anew for another scope, directory, policy or session', async () => {
    await profile('');
    await addFiles(home, { 'sub/file': '' });
    const server = openServer({ env: { PATH, HOME: home } });
    const wire = await openSession(server);
    const shell = { name: 'bash', path: '/bin/bash' };
    const envPolicy = { inherit: 'all', ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] };
    for (const changes of [
      {},
      { shellSnapshot: { scopeId: 'other', shell } },
      { cwd: `file://${home}/sub` },
      { envPolicy },
    ]) {
      await run(wire, 'true', changes);
      await run(wire, 'true', changes);
    }
    expect(logins()).toBe(4);
    await run(await openSession(server), 'true');
    expect(logins()).toBe(5);
  });

  it.each([
    [MAX_SNAPSHOTS_PER_SESSION - 1, 0],
    [MAX_SNAPSHOTS_PER_SESSION, 0],
    [MAX_SNAPSHOTS_PER_SESSION + 1, 1],
  ])('of %i scopes', async (count, again) => {
    await profile('');
    const wire = await openSession(openServer());
    const shell = { name: 'bash', path: '/bin/bash' };
    const use = (scope: number) => run(wire, 'true', { shellSnapshot: { scopeId: `scope ${scope}`, shell } });
    for (let scope = 0; scope < count; scope++) await use(scope);
    await use(0);
    expect(logins()).toBe(count + again);
  });

  it('leave alone what the login left running, until the session ends', async () => {
    await profile('sleep 300 >/dev/null 2>&1 & echo $! >"$HOME/agent"\nexport AGENT=$!\n');
    const wire = await openSession(openServer({ detachedSessionMs: 0 }));
    const agent = Number(await print(wire, 'echo $AGENT'));
    expect(isRunning(agent)).toBe(true);
    await wire.close();
    await waitForProcessGone(agent);
  });
});

describe('a login that cannot be captured', () => {
  it.each([
    ['exits', 'exit 0\n'],
    ['runs something else', 'exec /bin/true\n'],
    ['prints too much', 'head -c 5000000 /dev/zero\n'],
    ['has too large a state', 'eval "f() { : $(printf %0600000d 0); }"\n'],
    ['exports more than a program can take', 'export BIG=$(printf %0600000d 0)\n'],
  ])('because it %s leaves the command as it is', async (_, text) => {
    await profile(`if [ -e "$HOME/done" ]; then echo plain; return; fi\ntouch "$HOME/done"\n${text}`);
    const wire = await openSession(openServer());
    const { stdout } = await run(wire, 'echo ran');
    expect(stdout).toMatch(/^(plain\n)?ran\n$/);
    expect(logins()).toBe(2);
  });

  it('is tried again after a while, and not for ever', async () => {
    await profile('[ ! -e "$HOME/broken" ] || [ $# -gt 0 ] || exec /bin/true\n');
    await addFiles(home, { broken: '' });
    const clock = new FakeClock();
    const wire = await openSession(openServer({ clock }));
    // Each failure is one login, and the command itself, which fails alike, another.
    await run(wire, 'echo x');
    await run(wire, 'echo x');
    expect(logins()).toBe(3);
    for (let attempt = 2; attempt <= MAX_CAPTURE_ATTEMPTS + 1; attempt++) {
      clock.advance(CAPTURE_RETRY_MS);
      await run(wire, 'echo x');
    }
    expect(logins()).toBe(3 + (MAX_CAPTURE_ATTEMPTS - 1) + MAX_CAPTURE_ATTEMPTS);
  });

  it('because it takes too long is killed with all that it started', async () => {
    await profile(
      '[ -e "$HOME/pid" ] && return\necho $$ >"$HOME/pid"\nmkfifo "$HOME/gate"\nread -r _ <"$HOME/gate"\n',
    );
    const clock = new FakeClock();
    const wire = await openSession(openServer({ clock }));
    const output = run(wire, 'echo ran');
    const pid = await untilWritten(join(home, 'pid'));
    clock.advance(CAPTURE_TIMEOUT_MS);
    expect((await output).stdout).toBe('ran\n');
    await waitForProcessGone(pid);
  });
});

describe('a start that waits for a capture', () => {
  const slow = 'echo $$ >"$HOME/pid"\nmkfifo "$HOME/gate"\nread -r _ <"$HOME/gate"\nexport FROM=profile\n';
  const start = (wire: Wire) =>
    wire.send({ id: 'start', method: 'process/start', params: params('p', 'echo $FROM') });
  const answer = (wire: Wire) => wire.next(({ id }) => id === 'start', 'the answer to the start');

  it('is cancelled by terminate, and its id is free again', async () => {
    await profile(slow);
    const wire = await openSession(openServer());
    start(wire);
    await untilWritten(join(home, 'pid'));
    expect((await wire.request('process/start', params('p', 'true'))).error).toMatchObject({
      code: -32600,
      message: 'process p already exists',
    });
    expect((await wire.request('process/terminate', { processId: 'p' })).result).toEqual({
      running: true,
      pids: [],
    });
    expect((await answer(wire)).error).toMatchObject({
      code: -32600,
      message: 'process p start was cancelled',
    });
    expect((await wire.request('process/terminate', { processId: 'p' })).result).toEqual({
      running: false,
      pids: [],
    });
    start(wire);
    await addFiles(home, { gate: '\n' });
    expect((await untilClosed(wire, 'p')).stdout.toString()).toBe('profile\n');
    expect(logins()).toBe(1);
  });

  it('holds up reads and signals of its own process alone', async () => {
    await profile(slow);
    const wire = await openSession(openServer({ concurrentRequests: 1 }));
    start(wire);
    await untilWritten(join(home, 'pid'));
    const read = wire.request('process/read', { processId: 'p', waitMs: 10_000 });
    expect((await wire.request('environment/status')).result).toEqual({ status: 'ready' });
    await addFiles(home, { gate: '\n' });
    const chunks = (await read).result?.chunks as { chunk: string }[];
    expect(chunks.map(({ chunk }) => Buffer.from(chunk, 'base64').toString())).toEqual(['profile\n']);
  });

  it('ends with its session, and so does the login', async () => {
    await profile(slow);
    const wire = await openSession(openServer({ detachedSessionMs: 0 }));
    start(wire);
    const pid = await untilWritten(join(home, 'pid'));
    await wire.close();
    await waitForProcessGone(pid);
  });
});

it('the program that is asked for is the one that must exist', async () => {
  const wire = await openSession(openServer());
  const shell = { name: 'bash', path: join(home, 'missing') };
  expect((await wire.request('process/start', params('p', 'true', {}, shell))).error).toMatchObject({
    code: -32603,
    message: 'No such file or directory (os error 2)',
  });
  await addFiles(home, { 'not-a-shell': '#!/bin/sh\necho "called with $1"\n' });
  await chmod(join(home, 'not-a-shell'), 0o755);
  const odd = { name: 'bash', path: join(home, 'not-a-shell') };
  expect(await print(wire, 'true', {}, odd)).toBe('called with -lc\n');
});

/** The number that a program writes to a file, once it is there. */
async function untilWritten(path: string): Promise<number> {
  for (;;) {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    if (text.endsWith('\n')) return Number(text);
    await new Promise(setImmediate);
  }
}
