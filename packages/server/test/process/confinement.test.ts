import { access, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InProcessWire } from '@exec-server/testing';
import { waitForProcessGone } from '@exec-server/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { HEAD_BYTES } from '../../src/output/stream-heads.js';
import { MAX_SEARCHED_BYTES } from '../../src/sandbox/denial/judge-denial.js';
import { READ_ROOT, requireBackend, rule, sandboxOf, special, VIEW_BACKENDS } from '../support/sandbox.js';
import {
  notificationOf,
  openServer,
  openSession,
  shellParams,
  startParams,
  untilClosed,
  untilPrinted,
} from '../support/session.js';
import { makeTempDirectory } from '../support/temp-directory.js';

const READ_ONLY = sandboxOf([READ_ROOT]);
const TRAP = 'trap "echo caught; exit 7" INT TERM; echo ready; while :; do sleep 0.02; done';

async function start(wire: InProcessWire, params: object) {
  const { result, error } = await wire.request('process/start', params);
  if (result === undefined) throw new Error(JSON.stringify(error));
  return result as { readonly pid: number; readonly sandboxType: string };
}

async function exitOf(wire: InProcessWire, processId: string) {
  await untilClosed(wire, processId);
  return wire.received.find(notificationOf(processId, 'process/exited'))?.params;
}

describe.each(VIEW_BACKENDS)('by %s', (backend) => {
  beforeEach((test) => requireBackend(test, backend));

  const openConfining = () => openServer({ sandboxBackend: backend });

  it('says truthfully whether a process is confined', async () => {
    const wire = await openSession(openConfining());
    const typeOf = async (id: string, sandbox: unknown) =>
      (await start(wire, startParams(id, ['/bin/true'], { sandbox }))).sandboxType;
    const permissions = (profile: object) => ({ permissions: profile, windowsSandboxLevel: 'disabled' });
    expect(await typeOf('none', null)).toBe('none');
    expect(await typeOf('disabled', permissions({ type: 'disabled' }))).toBe('none');
    const everything = sandboxOf([special({ kind: 'root' }, 'write')], { network: 'enabled' });
    expect(await typeOf('everything', everything)).toBe('none');
    expect(await typeOf('files', READ_ONLY)).toBe('linuxSeccomp');
    expect(await typeOf('network', permissions({ type: 'external', network: 'restricted' }))).toBe(
      'linuxSeccomp',
    );
  });

  it('runs the program with its own arguments, name, environment, directory and input', async () => {
    const directory = await makeTempDirectory();
    const wire = await openSession(openConfining());
    await start(
      wire,
      startParams(
        'own',
        ['/bin/sh', '-c', 'echo "$0|$*|$A|$(pwd)|$(cat)"; cat /proc/$$/environ', 'x', 'a b', ''],
        {
          cwd: `file://${directory}`,
          env: { A: 'ü "quoted"' },
          arg0: 'renamed',
          pipeStdin: true,
          sandbox: READ_ONLY,
        },
      ),
    );
    await wire.request('process/write', { processId: 'own', chunk: btoa('input'), writeId: '1' });
    await wire.request('process/closeStdin', { processId: 'own' });
    const { stdout, exitCode } = await untilClosed(wire, 'own');
    expect(stdout.toString()).toBe(`x|a b |ü "quoted"|${directory}|input\nA=ü "quoted"\0`);
    expect(exitCode).toBe(0);
  });

  it.each([
    ['a program that is not there', { argv: ['/no/such'] }, 'No such file or directory (os error 2)'],
    [
      'a name that is not on the PATH',
      { argv: ['no-such-program'] },
      'No such file or directory (os error 2)',
    ],
    ['a file that cannot be executed', { argv: ['/etc/passwd'] }, 'Permission denied (os error 13)'],
    [
      'a directory that is not there',
      { argv: ['/bin/true'], cwd: 'file:///no/such' },
      'No such file or directory (os error 2)',
    ],
    [
      'a directory that is a file',
      { argv: ['/bin/true'], cwd: 'file:///etc/passwd' },
      'Not a directory (os error 20)',
    ],
  ])('tells %s as without a sandbox', async (_name, changes, message) => {
    const wire = await openSession(openConfining());
    for (const sandbox of [null, READ_ONLY]) {
      const { error } = await wire.request('process/start', {
        ...startParams('failing', [], changes),
        sandbox,
      });
      expect(error).toMatchObject({ code: -32603, message });
    }
  });

  it('does not start what the sandbox does not show', async () => {
    const directory = await makeTempDirectory();
    await writeFile(join(directory, 'program'), '#!/bin/sh\necho hi', { mode: 0o755 });
    const wire = await openSession(openConfining());
    const minimal = sandboxOf([special({ kind: 'minimal' }, 'read')]);
    const hidden = { code: -32603, message: 'No such file or directory (os error 2)' };
    const program = startParams('program', [join(directory, 'program')], {
      sandbox: minimal,
      cwd: 'file:///usr',
    });
    expect((await wire.request('process/start', program)).error).toMatchObject(hidden);
    const cwd = startParams('cwd', ['/bin/true'], { sandbox: minimal, cwd: `file://${directory}` });
    expect((await wire.request('process/start', cwd)).error).toMatchObject(hidden);
    const shown = {
      ...program,
      sandbox: sandboxOf([special({ kind: 'minimal' }, 'read'), rule(directory, 'read')]),
    };
    await start(wire, shown);
    expect((await untilClosed(wire, 'program')).stdout.toString()).toBe('hi\n');
  });

  it('refuses what it cannot keep before it looks at the rest', async () => {
    const wire = await openSession(openConfining());
    const foreign = sandboxOf([{ path: { type: 'path', path: 'file:///C:/x' }, access: 'read' }]);
    expect(
      (await wire.request('process/start', startParams('foreign', [], { sandbox: foreign }))).error,
    ).toMatchObject({
      code: -32602,
      message: "invalid sandbox permission path URI: 'file:///C:/x' is invalid on 'linux'",
    });
    expect(
      (await wire.request('process/start', startParams('empty', [], { sandbox: READ_ONLY }))).error,
    ).toMatchObject({
      code: -32602,
      message: 'argv must not be empty',
    });
  });

  it.each([false, true])('interrupts the program and not its sandbox, with tty %s', async (tty) => {
    const wire = await openSession(openConfining());
    await start(wire, shellParams('trap', TRAP, { tty, sandbox: READ_ONLY }));
    await untilPrinted(wire, 'trap', 'ready');
    await wire.request('process/signal', { processId: 'trap', signal: 'interrupt' });
    expect(await exitOf(wire, 'trap')).toMatchObject({ exitCode: 7, signal: null });
  });

  it('has a terminal of its own: its size, its resizes, and its interrupt key', async () => {
    const wire = await openSession(openConfining());
    const script = `trap "stty size" WINCH; stty size; ${TRAP}`;
    await start(
      wire,
      shellParams('tty', script, { tty: true, size: { rows: 30, cols: 100 }, sandbox: READ_ONLY }),
    );
    await untilPrinted(wire, 'tty', 'ready');
    await wire.request('process/resize', { processId: 'tty', rows: 31, cols: 101 });
    await untilPrinted(wire, 'tty', '31 101');
    await wire.request('process/write', { processId: 'tty', chunk: btoa('\x03'), writeId: '1' });
    const { pty, exitCode } = await untilClosed(wire, 'tty');
    expect(pty.toString()).toMatch(/^30 100\r\n/);
    expect(pty.toString()).toContain('caught');
    expect(exitCode).toBe(7);
  });

  it('lets the program end well when it is asked to, and knows the signal that ended it', async () => {
    const wire = await openSession(openConfining());
    await start(wire, shellParams('well', TRAP, { sandbox: READ_ONLY }));
    await untilPrinted(wire, 'well', 'ready');
    await wire.request('process/terminate', { processId: 'well', mode: { graceful: { timeoutMs: 60_000 } } });
    expect(await exitOf(wire, 'well')).toMatchObject({ exitCode: 7, signal: null });

    await start(wire, startParams('plain', ['sleep', '1000'], { sandbox: READ_ONLY }));
    await wire.request('process/terminate', {
      processId: 'plain',
      mode: { graceful: { timeoutMs: 60_000 } },
    });
    expect(await exitOf(wire, 'plain')).toMatchObject({ exitCode: 128 + 15, signal: 'SIGTERM' });

    await start(wire, shellParams('code', 'exit 143', { sandbox: READ_ONLY }));
    expect(await exitOf(wire, 'code')).toMatchObject({ exitCode: 143, signal: null });
  });

  it('is ended as a whole, with daemons', async () => {
    const directory = await makeTempDirectory();
    const wire = await openSession(openConfining());
    const sandbox = sandboxOf([READ_ROOT, rule(directory, 'write')]);
    const script = 'setsid sh -c "setsid sleep 1000 & echo daemon"; echo ready; sleep 1000';
    const { pid } = await start(wire, shellParams('tree', script, { sandbox, cwd: `file://${directory}` }));
    await untilPrinted(wire, 'tree', 'ready');
    const { result } = await wire.request('process/terminate', { processId: 'tree' });
    expect(result).toMatchObject({ running: true });
    expect(await exitOf(wire, 'tree')).toMatchObject({ exitCode: 137, signal: 'SIGKILL' });
    await waitForProcessGone(pid);
    // Nobody is left, so that what was put there for mounts goes.
    await expect.poll(() => readdir(directory)).toEqual([]);
  });

  it('tells the pid of the program, which leads its own session', async () => {
    const wire = await openSession(openConfining());
    const { pid } = await start(wire, startParams('pid', ['sleep', '1000'], { sandbox: READ_ONLY }));
    const { stdout } = await runBare(wire, `ps -o pid=,pgid=,sid=,args= -p ${pid}`);
    expect(stdout.toString().trim().split(/\s+/)).toEqual([`${pid}`, `${pid}`, `${pid}`, 'sleep', '1000']);
    await wire.request('process/terminate', { processId: 'pid' });
  });

  async function runBare(wire: InProcessWire, script: string) {
    await start(wire, shellParams(script, script));
    return untilClosed(wire, script);
  }

  it('ends when its time is up', async () => {
    const wire = await openSession(openConfining());
    await start(wire, startParams('late', ['sleep', '1000'], { timeoutMs: 1, sandbox: READ_ONLY }));
    expect(await exitOf(wire, 'late')).toMatchObject({ timedOut: true, signal: 'SIGKILL' });
  });

  it('goes on after what it left in the background was disowned, like any other', async () => {
    const wire = await openSession(openConfining());
    const script = '(while [ ! -e /proc/1/nothing ]; do sleep 0.02; echo still; done) & echo done';
    await start(wire, shellParams('background', script, { sandbox: READ_ONLY }));
    await wire.next(notificationOf('background', 'process/exited'), 'the exit');
    await untilPrinted(wire, 'background', 'still');
    expect(wire.received.some(notificationOf('background', 'process/closed'))).toBe(false);
  });

  it('restores a shell from a snapshot that was taken in the same sandbox', async () => {
    const home = await makeTempDirectory();
    await writeFile(
      join(home, '.profile'),
      'from_login() { echo "from login"; }; touch "$HOME/login-ran" 2>/dev/null',
    );
    const wire = await openSession(openConfining());
    const snapshotted = (id: string, sandbox: object | null) => ({
      ...startParams(id, ['/bin/bash', '-lc', 'from_login; ls /proc/self/fd | wc -l'], { sandbox }),
      env: { HOME: home, PATH: '/usr/bin:/bin' },
      shellSnapshot: { scopeId: 'scope', shell: { name: 'bash', path: '/bin/bash' } },
    });
    await start(wire, snapshotted('confined', READ_ONLY));
    const { stdout } = await untilClosed(wire, 'confined');
    expect(stdout.toString()).toBe('from login\n4\n');
    await expect(access(join(home, 'login-ran'))).rejects.toThrow();
    // Another sandbox, another snapshot.
    await start(wire, snapshotted('open', null));
    await untilClosed(wire, 'open');
    await access(join(home, 'login-ran'));
  });

  it('is called off while it starts', async () => {
    const directory = await makeTempDirectory();
    await mkdir(join(directory, 'many'));
    const wire = await openSession(openConfining());
    const answer = wire.request(
      'process/start',
      startParams('off', ['sleep', '1000'], { sandbox: READ_ONLY }),
    );
    await wire.request('process/terminate', { processId: 'off' });
    const { error, result } = await answer;
    // Either it was in time, or the process ran and was ended.
    if (result === undefined)
      expect(error).toMatchObject({ code: -32600, message: 'process off start was cancelled' });
    else expect(await exitOf(wire, 'off')).toMatchObject({ signal: 'SIGKILL' });
  });

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('words that %i bytes of output follow are found: %s', async (more, expected) => {
    const directory = await makeTempDirectory();
    await writeFile(join(directory, 'secret'), 'x');
    const wire = await openSession(openConfining());
    const sandbox = sandboxOf([READ_ROOT, rule(join(directory, 'secret'), 'deny')]);
    // Without its first byte it is another path, where nothing is.
    const words = `${directory}/secret: Permission denied\n`;
    const print = (bytes: number) => `head -c ${bytes} /dev/zero | tr '\\0' x`;
    const behind = MAX_SEARCHED_BYTES - words.length + more;
    const script = `${print(HEAD_BYTES)}; echo; printf '${words}'; ${print(behind)}; exit 1`;
    await start(wire, shellParams('words', script, { sandbox, cwd: `file://${directory}` }));
    expect(await exitOf(wire, 'words')).toMatchObject({ exitCode: 1, sandboxDenied: expected });
  });

  it('tells that the sandbox is why a process failed', async () => {
    const directory = await makeTempDirectory();
    await writeFile(join(directory, 'secret'), 'x');
    const wire = await openSession(openConfining());
    const sandbox = sandboxOf([READ_ROOT, rule(join(directory, 'secret'), 'deny')]);
    const deniedBy = async (id: string, script: string, confined: object | null = sandbox) => {
      await start(wire, shellParams(id, script, { sandbox: confined, cwd: `file://${directory}` }));
      return (await exitOf(wire, id))?.sandboxDenied;
    };
    expect(await deniedBy('write', 'echo x > file')).toBe(true);
    expect(await deniedBy('read', 'cat secret')).toBe(true);
    expect(await deniedBy('success', 'echo x > file; true')).toBe(false);
    expect(await deniedBy('words', 'echo "Read-only file system"; exit 1')).toBe(false);
    expect(await deniedBy('elsewhere', 'echo "cat: /no/such/secret: Permission denied"; exit 1')).toBe(false);
    expect(
      await deniedBy('open', 'echo "sh: cannot create /etc/x: Read-only file system"; exit 1', null),
    ).toBe(false);
    const { result } = await wire.request('process/read', { processId: 'write' });
    expect(result).toMatchObject({ sandboxDenied: true });
  });

  it('tells that also where next to nothing of the output is kept', async () => {
    const wire = await openSession(openConfining());
    const sandbox = sandboxOf([READ_ROOT]);
    const script = 'echo x > /etc/denied';
    await start(wire, shellParams('few', script, { sandbox, outputBytesCap: 1 }));
    expect(await exitOf(wire, 'few')).toMatchObject({ sandboxDenied: true });
  });

  it.each([
    [511, true],
    [512, true],
    [513, backend === 'helper'],
  ])('%i files may be denied one by one: %s', async (count, allowed) => {
    const directory = await makeTempDirectory();
    const paths = Array.from({ length: count }, (_, index) => join(directory, `${index}`));
    for (const path of paths) await writeFile(path, 'secret');
    const sandbox = sandboxOf([READ_ROOT, ...paths.map((path) => rule(path, 'deny'))]);
    const wire = await openSession(openConfining());
    const params = startParams('p', ['/bin/cat', paths.at(-1) ?? ''], { sandbox });
    const { error } = await wire.request('process/start', params);
    if (allowed) expect((await untilClosed(wire, 'p')).stdout.toString()).toBe('');
    else expect(error?.message).toContain('more than 512 files are denied one by one');
  });
});
