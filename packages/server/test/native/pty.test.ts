import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { skipFor } from '@exec-server/testing';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import type { Launcher } from '../../src/native/launch.js';
import { createLauncher } from '../../src/native/launcher.js';
import { collect, LAUNCHERS, PTY, planOf, run, shell, turnLoop, until } from './launch-helper.js';

describe.each(LAUNCHERS)('pty of the $name launcher', ({ fallback }) => {
  let launcher: Launcher;

  beforeAll(() => {
    launcher = createLauncher({ fallback });
  });

  afterAll(() => launcher.close());

  it('is the controlling terminal of the child, and all of its standard streams', async () => {
    const script =
      'tty; tty <&1; tty <&2; ps -o tty= -p $$; readlink /proc/self/fd/2; test -r /dev/tty && echo reachable';
    const child = run(launcher, shell(script, { stdio: PTY }));
    expect(await child.done).toEqual({ kind: 'exited', code: 0 });
    const [first, ...rest] = child.text().trimEnd().split('\r\n');
    expect(first).toMatch(/^\/dev\/pts\/\d+$/);
    expect(rest).toEqual([first, first, first!.replace('/dev/', ''), first, 'reachable']);
  });

  it('has its size before the child runs, and changes it on request', async () => {
    const script = 'stty size; trap "stty size; exit" WINCH; echo ready; while :; do read line; done';
    const child = run(launcher, shell(script, { stdio: { kind: 'pty', rows: 33, cols: 111 } }));
    await child.waitFor(/33 111\r\nready/);
    child.child.resize({ rows: 50, cols: 132 });
    await child.waitFor(/50 132/);
    await child.done;
  });

  it('turns ^C into SIGINT', async () => {
    const child = run(launcher, shell('echo ready; exec sleep 1000', { stdio: PTY }));
    await child.waitFor(/ready/);
    await child.child.input!.write(Buffer.from('\x03'));
    expect(await child.done).toEqual({ kind: 'signaled', signal: 2 });
  });

  it('ends the input with ^D, and not by close', async () => {
    const child = run(launcher, planOf('/bin/cat', [], { stdio: PTY }));
    child.child.input!.close();
    await child.child.input!.write(Buffer.from('line\n\x04'));
    expect(await child.done).toEqual({ kind: 'exited', code: 0 });
    expect(child.text()).toContain('line\r\nline\r\n');
  });

  it('survives a child that closes its terminal and opens it again', async () => {
    const script = 't=$(tty); echo before; exec <&- >&- 2>&-; sleep 0.05; exec <$t >$t 2>&1; echo after';
    const child = run(launcher, shell(script, { stdio: PTY }));
    expect(await child.done).toEqual({ kind: 'exited', code: 0 });
    expect(child.text()).toBe('before\r\nafter\r\n');
  });

  it('loses nothing when the reader pauses over the exit of the child', async () => {
    const child = launcher.launch(planOf('/usr/bin/seq', ['1', '700'], { stdio: PTY }));
    const output = child.outputs[0]!;
    const chunks: Buffer[] = [];
    const ended = new Promise<void>((resolve) => {
      output.start((chunk) => {
        chunks.push(chunk);
        output.pause();
      }, resolve);
    });
    await child.exit;
    const timer = setInterval(() => output.resume(), 1);
    await ended;
    clearInterval(timer);
    const expected = Array.from({ length: 700 }, (_, index) => `${index + 1}\r\n`).join('');
    expect(Buffer.concat(chunks).toString()).toBe(expected);
  });

  it('ends only when a background process closes the terminal too', async () => {
    // Without a hang-up at the leader's exit only a process that is no part of the session keeps its terminal usable.
    const child = run(
      launcher,
      shell('setsid sh -c "echo holding; sleep 1000" & wait -n 2>/dev/null; sleep 0.1; echo $!', {
        stdio: PTY,
      }),
    );
    await child.waitFor(/holding/);
    expect(await child.child.exit).toMatchObject({ kind: 'exited' });
    const [, pid] = await child.waitFor(/(\d+)\r\n/);
    let ended = false;
    void child.done.then(() => {
      ended = true;
    });
    for (let turn = 0; turn < 50; turn += 1) await turnLoop();
    expect(ended).toBe(false);
    process.kill(-Number(pid), 'SIGKILL');
    await child.done;
  });

  it('leaves the loop idle while 1 MB waits for a child that never reads, and rejects when it dies', async () => {
    const child = run(launcher, shell('stty raw -echo; echo ready; exec sleep 1000', { stdio: PTY }));
    await child.waitFor(/ready/);
    let settled = false;
    const write = child.child.input!.write(Buffer.alloc(1_000_000, 'x')).finally(() => {
      settled = true;
    });
    for (let turn = 0; turn < 100; turn += 1) await turnLoop();
    expect(settled).toBe(false);
    child.child.signalGroup(9);
    await expect(write).rejects.toMatchObject({ errno: 5 });
    expect(await child.done).toEqual({ kind: 'signaled', signal: 9 });
    expect(() => child.child.resize({ rows: 1, cols: 1 })).toThrow();
  });

  it('carries 10 MB through a raw `cat` while its output flows', async () => {
    const size = 10_000_000;
    const child = launcher.launch(shell('stty raw -echo; echo ready; exec cat', { stdio: PTY }));
    let received = 0;
    let wrong = 0;
    let onReady = () => {};
    const ready = new Promise<void>((resolve) => {
      onReady = resolve;
    });
    const ended = new Promise<void>((resolve) => {
      child.outputs[0]!.start((chunk) => {
        onReady();
        received += chunk.length;
        for (const byte of chunk) if (byte !== 0x79) wrong += 1;
      }, resolve);
    });
    await ready;
    await child.input!.write(Buffer.alloc(size, 'y'));
    await until(() => received >= size);
    // "ready" has one y among its seven bytes with the line end, and the last of them may come apart from it.
    expect(wrong).toBeLessThanOrEqual(7);
    child.signalGroup(9);
    await ended;
    await child.exit;
  });

  it('refuses a size that a terminal cannot have', async () => {
    for (const rows of [-1, 65_536, 1.5]) {
      expect(() => launcher.launch(shell(':', { stdio: { kind: 'pty', rows, cols: 80 } }))).toThrow(
        expect.objectContaining({ errno: 22 }),
      );
    }
    const child = run(launcher, shell('stty size', { stdio: { kind: 'pty', rows: 65_535, cols: 0 } }));
    await child.done;
    expect(child.text()).toBe('65535 0\r\n');
  });

  it.runIf(fallback)('refuses what the binding cannot do', async () => {
    const renamed = planOf('/bin/sh', [], { argv: ['renamed', '-c', ':'], stdio: PTY });
    expect(() => launcher.launch(renamed)).toThrow(expect.objectContaining({ errno: 95 }));
    const extra = shell(':', { stdio: PTY, extraDescriptors: [{ fd: 0, as: 3 }] });
    expect(() => launcher.launch(extra)).toThrow(expect.objectContaining({ errno: 95 }));
    const byName = collect(
      launcher.launch(
        planOf('/bin/sh', [], {
          argv: ['sh', '-c', 'echo $0'],
          env: new Map([['PATH', '/bin']]),
          stdio: PTY,
        }),
      ),
    );
    await byName.done;
    expect(byName.text()).toBe('sh\r\n');
  });
});

describe('a machine without terminals', () => {
  const BUILT = fileURLToPath(new URL('../../dist/native/', import.meta.url));
  const isolated = ['--user', '--map-root-user', '--mount'];

  /** What is said when a terminal is opened where a script has been run first, in a namespace of its own. */
  function openWithout(
    test: TestContext,
    prepare: string,
  ): { readonly errno: number; readonly message: string } {
    if (spawnSync('unshare', [...isolated, 'true']).status !== 0) skipFor(test, 'namespaces');
    const script = `
      const { openPty } = await import(${JSON.stringify(`${BUILT}pty.js`)});
      const { loadLibc } = await import(${JSON.stringify(`${BUILT}libc.js`)});
      const libc = loadLibc();
      require('node:child_process').execFileSync('sh', ['-c', process.argv[1]]);
      try {
        openPty(libc, { rows: 24, cols: 80 }, { own: (fd) => fd });
      } catch ({ errno, message }) {
        console.log(JSON.stringify({ errno, message }));
      }`;
    const args = [...isolated, process.execPath, '-e', `(async () => {${script}})()`, prepare];
    return JSON.parse(execFileSync('unshare', args, { encoding: 'utf8' }));
  }

  it.for<[string, string, number, string]>([
    [
      'without a devpts',
      'mount -t tmpfs none /dev/pts',
      19,
      'no devpts is mounted at /dev/pts: No such device',
    ],
    [
      'without /dev/ptmx',
      'mount -t tmpfs none /dev',
      2,
      '/dev/ptmx or /dev/pts is missing: No such file or directory',
    ],
    [
      'whose /dev/ptmx is something else',
      'mount --bind /dev/null /dev/ptmx',
      22,
      '/dev/ptmx is no terminal multiplexer: Invalid argument',
    ],
  ])('$0 says so, and what to do', ([, prepare, errno, words], test) => {
    const told = openWithout(test, prepare);
    expect(told.errno).toBe(errno);
    expect(told.message).toContain(`this machine has no terminals, ${words}`);
    expect(told.message).toContain(`(os error ${errno}). Mount it with`);
  });
});
