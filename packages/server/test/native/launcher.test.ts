import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Launcher } from '../../src/native/launch.js';
import { createLauncher, probeNativeLauncher } from '../../src/native/launcher.js';
import { NativeLauncher } from '../../src/native/native-launcher.js';
import {
  countDescriptors,
  countZombies,
  LAUNCHERS,
  PIPES,
  PIPES_WITH_STDIN,
  PTY,
  planOf,
  readState,
  run,
  shell,
  turnLoop,
  until,
} from './launch-helper.js';

/** Bytes that a pipe holds in the kernel. */
const PIPE_BYTES = 65_536;

describe.each(LAUNCHERS)('$name launcher', ({ fallback }) => {
  let launcher: Launcher;
  let directory: string;

  beforeAll(() => {
    launcher = createLauncher({ fallback });
    directory = mkdtempSync(join(tmpdir(), 'launcher-'));
  });

  afterAll(async () => {
    await launcher.close();
    rmSync(directory, { recursive: true });
  });

  it('separates stdout and stderr, and reports the exit code', async () => {
    const child = run(launcher, shell('echo out; echo err >&2; exit 7'));
    expect(await child.done).toEqual({ kind: 'exited', code: 7 });
    expect(child.text('stdout')).toBe('out\n');
    expect(child.text('stderr')).toBe('err\n');
  });

  it.each([0, 1, 127, 128, 255])('reports exit code %i', async (code) => {
    expect(await run(launcher, shell(`exit ${code}`)).done).toEqual({ kind: 'exited', code });
  });

  it.each(Array.from({ length: 15 }, (_, index) => index + 1))(
    'reports death by signal %i',
    async (signal) => {
      const plan = shell(`ulimit -c 0; kill -${signal} $$`);
      expect(await run(launcher, plan).done).toEqual({ kind: 'signaled', signal });
      expect(await run(launcher, { ...plan, stdio: PTY }).done).toEqual({ kind: 'signaled', signal });
    },
  );

  it('gives exactly the argv and the environment of the plan', async () => {
    const env = new Map([
      ['B', 'two words'],
      ['A', 'ümlaut\nline'],
      ['EMPTY', ''],
    ]);
    const variables = run(launcher, planOf('/usr/bin/env', ['-0'], { env }));
    await variables.done;
    expect(variables.text().split('\0')).toEqual(['B=two words', 'A=ümlaut\nline', 'EMPTY=', '']);

    const argv = run(
      launcher,
      shell('printf "[%s]" "$0" "$@"', { argv: ['sh', '-c', 'printf "[%s]" "$0" "$@"', 'a b', '', 'ü'] }),
    );
    await argv.done;
    expect(argv.text()).toBe('[a b][][ü]');
  });

  it('gives an argv[0] that is not the program', async () => {
    const child = run(launcher, planOf('/bin/sh', [], { argv: ['renamed', '-c', 'cat /proc/$$/cmdline'] }));
    await child.done;
    expect(child.text()).toMatch(/^renamed\0/);
  });

  it('runs a program by a path that counts from the working directory', async () => {
    writeFileSync(join(directory, 'tool'), '#!/bin/sh\npwd\n', { mode: 0o755 });
    const child = run(launcher, planOf('./tool', [], { cwd: Buffer.from(directory) }));
    await child.done;
    expect(child.text()).toBe(`${directory}\n`);
  });

  it('makes the child the leader of a session and a group', async () => {
    const child = run(launcher, shell('ps -o pid=,pgid=,sid= -p $$'));
    await child.done;
    expect(child.text().trim().split(/\s+/).map(Number)).toEqual([
      child.child.pid,
      child.child.pid,
      child.child.pid,
    ]);
  });

  it('leaves SIGPIPE at its default', async () => {
    const child = run(launcher, shell('yes | head -1; echo end'));
    expect(await child.done).toEqual({ kind: 'exited', code: 0 });
    expect(child.text()).toBe('y\nend\n');
  });

  it('leaves no signal ignored or blocked', async () => {
    const child = run(launcher, planOf('/bin/grep', ['-E', '^Sig(Blk|Ign)', '/proc/self/status']));
    await child.done;
    expect(child.text()).toMatch(/^SigBlk:\s0+\nSigIgn:\s0+\n$/);
  });

  describe('that cannot start a program', () => {
    it.each([
      ['a missing program', () => planOf('/nonexistent/program', []), 2],
      ['a missing directory', () => shell(':', { cwd: Buffer.from('/nonexistent') }), 2],
      ['a directory that is a file', () => shell(':', { cwd: Buffer.from('/bin/sh') }), 20],
      ['a program that is a directory', () => planOf('/tmp', []), 13],
      ['a file that is not executable', () => planOf('/etc/passwd', []), 13],
      ['an argument of 300 KB', () => planOf('/bin/echo', ['x'.repeat(300_000)]), 7],
      ['a NUL in an argument', () => planOf('/bin/echo', ['a\0b']), 22],
      ['a NUL in a variable', () => planOf('/bin/echo', [], { env: new Map([['A', 'a\0b']]) }), 22],
      ['a NUL in the program', () => planOf('/bin/ec\0ho', []), 22],
      ['a NUL in the directory', () => planOf('/bin/echo', [], { cwd: Buffer.from('/t\0mp') }), 22],
    ])('throws for %s', (_, plan, errno) => {
      const before = countDescriptors();
      for (const stdio of [PIPES_WITH_STDIN, PTY]) {
        expect(() => launcher.launch({ ...plan(), stdio })).toThrow(
          expect.objectContaining({ name: 'OsError', errno }),
        );
      }
      expect(countDescriptors()).toBe(before);
    });

    it.skipIf(fallback)('throws ENOEXEC for a file of no known format', () => {
      const path = join(directory, 'no-format');
      writeFileSync(path, 'neither a binary nor a script\n');
      chmodSync(path, 0o755);
      expect(() => launcher.launch(planOf(path, []))).toThrow(expect.objectContaining({ errno: 8 }));
    });

    it('takes the longest argument that the kernel takes', async () => {
      const longest = 131_071;
      const child = run(launcher, planOf('/bin/echo', ['x'.repeat(longest)]));
      expect(await child.done).toEqual({ kind: 'exited', code: 0 });
      expect(child.text()).toHaveLength(longest + 1);
      expect(() => launcher.launch(planOf('/bin/echo', ['x'.repeat(longest + 1)]))).toThrow(
        expect.objectContaining({ errno: 7 }),
      );
    });
  });

  it.each([
    ['pipe', PIPES],
    ['pty', PTY],
  ])('loses no byte of 200 children that print 20 KB to a %s and exit', async (_, stdio) => {
    const line = 'x'.repeat(99);
    const expected = Array.from({ length: 200 }, () => `${line}${stdio.kind === 'pty' ? '\r' : ''}\n`).join(
      '',
    );
    const plan = shell(`i=0; while [ $i -lt 200 ]; do printf '%s\\n' ${line}; i=$((i+1)); done`, { stdio });
    for (let round = 0; round < 200; round += 8) {
      const children = Array.from({ length: 8 }, () => run(launcher, plan));
      for (const child of children) {
        expect(await child.done).toEqual({ kind: 'exited', code: 0 });
        expect(child.text()).toBe(expected);
      }
    }
  });

  it('hands out chunks of at most 64 KiB that nothing changes afterwards', async () => {
    const child = launcher.launch(planOf('/usr/bin/head', ['-c', '3000000', '/dev/zero']));
    const chunks: Buffer[] = [];
    await new Promise<void>((resolve) => child.outputs[0]!.start((chunk) => chunks.push(chunk), resolve));
    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThanOrEqual(65_536);
    expect(Buffer.concat(chunks).equals(Buffer.alloc(3_000_000))).toBe(true);
    child.outputs[1]!.destroy();
  });

  it('stops reading while paused, so that the child blocks', async () => {
    const child = launcher.launch(planOf('/usr/bin/head', ['-c', '4000000', '/dev/zero']));
    const output = child.outputs[0]!;
    let received = 0;
    let atPause = 0;
    const ended = new Promise<void>((resolve) => {
      output.start((chunk) => {
        received += chunk.length;
        if (atPause > 0) return;
        atPause = received;
        output.pause();
      }, resolve);
    });
    // The writer sleeps in the kernel once the pipe is full.
    await until(() => atPause > 0 && readState(child.pid) === 'S');
    expect(received).toBeLessThanOrEqual(atPause + PIPE_BYTES);
    output.resume();
    await ended;
    expect(received).toBe(4_000_000);
    child.outputs[1]!.destroy();
  });

  it('ends a stream that is destroyed, once', async () => {
    const child = launcher.launch(planOf('/usr/bin/yes', []));
    let ends = 0;
    const output = child.outputs[0]!;
    output.start(
      () => output.destroy(),
      () => {
        ends += 1;
      },
    );
    // A socket pair with unread bytes is reset, which may end the child by an error instead.
    const bySignal = { kind: 'signaled', signal: 13 };
    expect(fallback ? [bySignal, { kind: 'exited', code: 1 }] : [bySignal]).toContainEqual(await child.exit);
    output.destroy();
    child.outputs[1]!.destroy();
    await turnLoop();
    expect(ends).toBe(1);
  });

  it.skipIf(fallback)(
    'reports the exit while another process keeps the pipes, and the end when that closes them',
    async () => {
      const child = run(
        launcher,
        shell('exec 3<&0; (read line <&3; echo late) & echo early', { stdio: PIPES_WITH_STDIN }),
      );
      let closed = false;
      void child.done.then(() => {
        closed = true;
      });
      expect(await child.child.exit).toEqual({ kind: 'exited', code: 0 });
      await child.waitFor(/early/);
      expect(closed).toBe(false);
      await child.child.input!.write(Buffer.from('go\n'));
      await child.done;
      expect(child.text()).toBe('early\nlate\n');
      child.child.input!.close();
    },
  );

  describe('stdin', () => {
    it('is empty without a pipe', async () => {
      const child = run(launcher, planOf('/bin/cat', []));
      expect(child.child.input).toBeNull();
      expect(await child.done).toEqual({ kind: 'exited', code: 0 });
    });

    it('carries more than the pipe holds, and ends with close', async () => {
      const child = run(launcher, planOf('/usr/bin/wc', ['-c'], { stdio: PIPES_WITH_STDIN }));
      await child.child.input!.write(Buffer.alloc(1_000_000));
      child.child.input!.close();
      child.child.input!.close();
      await child.done;
      expect(child.text()).toBe('1000000\n');
    });

    it('waits for a child that does not read, without holding the loop, and rejects when it dies', async () => {
      const child = run(launcher, planOf('/bin/sleep', ['1000'], { stdio: PIPES_WITH_STDIN }));
      let settled = false;
      const write = child.child.input!.write(Buffer.alloc(1_000_000)).finally(() => {
        settled = true;
      });
      for (let turn = 0; turn < 100; turn += 1) await turnLoop();
      expect(settled).toBe(false);
      child.child.signalGroup(9);
      await expect(write).rejects.toMatchObject({ name: 'OsError' });
      expect(await child.done).toEqual({ kind: 'signaled', signal: 9 });
      await expect(child.child.input!.write(Buffer.from('x'))).rejects.toMatchObject({ name: 'OsError' });
    });

    it('rejects a write under way when it is closed', async () => {
      const child = run(launcher, planOf('/bin/sleep', ['1000'], { stdio: PIPES_WITH_STDIN }));
      const write = child.child.input!.write(Buffer.alloc(1_000_000));
      child.child.input!.close();
      await expect(write).rejects.toMatchObject({ errno: 32 });
      child.child.signalGroup(9);
      await child.done;
    });
  });

  it('signals the whole group until nobody is left in it', async () => {
    const child = run(launcher, shell('sleep 1000 & echo started; wait'));
    await child.waitFor(/started/);
    expect(child.child.signalGroup(0)).toBe(true);
    expect(child.child.signalGroup(15)).toBe(true);
    expect(await child.done).toEqual({ kind: 'signaled', signal: 15 });
    await until(() => !child.child.signalGroup(0));
    expect(child.child.signalGroup(9)).toBe(false);
  });

  it('leaves neither descriptors nor zombies after 500 starts', async () => {
    await run(launcher, shell(':')).done;
    await until(() => countZombies() === 0);
    const before = countDescriptors();
    for (let round = 0; round < 500; round += 10) {
      const plans = Array.from({ length: 10 }, (_, index) =>
        planOf('/bin/true', [], { stdio: index % 2 === 0 ? PIPES_WITH_STDIN : PTY }),
      );
      const children = plans.map((plan) => run(launcher, plan));
      await Promise.all(children.map(({ done }) => done));
      for (const { child } of children) child.input!.close();
    }
    await until(() => countDescriptors() <= before);
    expect(countZombies()).toBe(0);
  });

  it('refuses to start anything once it is closed', async () => {
    const other = createLauncher({ fallback });
    await other.close();
    expect(() => other.launch(planOf('/bin/true', []))).toThrow('the launcher is closed');
  });

  it('resizes nothing that has no size', async () => {
    const child = run(launcher, shell(':'));
    expect(() => child.child.resize({ rows: 1, cols: 1 })).toThrow('only a pty has a size');
    await child.done;
  });

  it('starts in a directory whose name is not text, or refuses', async () => {
    const cwd = Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xff, 0xfe])]);
    mkdirSync(cwd, { recursive: true });
    const plan = planOf('/bin/readlink', ['/proc/self/cwd'], { cwd });
    if (fallback) {
      expect(() => launcher.launch(plan)).toThrow(expect.objectContaining({ errno: 95 }));
      return;
    }
    const child = launcher.launch(plan);
    const chunks: Buffer[] = [];
    await new Promise<void>((resolve) => child.outputs[0]!.start((chunk) => chunks.push(chunk), resolve));
    expect(Buffer.concat(chunks).equals(Buffer.concat([cwd, Buffer.from('\n')]))).toBe(true);
    child.outputs[1]!.destroy();
    await child.exit;
  });
});

it('tells beforehand which launcher it will be', async () => {
  const launcher = createLauncher({ guardian: false, cgroups: false });
  const support = probeNativeLauncher();
  expect(support.usable).toBe(launcher instanceof NativeLauncher);
  await launcher.close();
});
