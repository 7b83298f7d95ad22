import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type FixtureName, fixture } from '@exec-server/testing';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { CgroupHome } from '../../src/native/cgroup/cgroup-home.js';
import { Guardian, type GuardianProcess, guardianArgv } from '../../src/native/guardian.js';
import type { InputTarget } from '../../src/native/launch.js';
import { createLauncher } from '../../src/native/launcher.js';
import { loadLibc } from '../../src/native/libc.js';
import { startGuardian } from '../../src/native/native-guardian.js';
import { NativeLauncher } from '../../src/native/native-launcher.js';
import { silentLogger } from '../../src/telemetry/logger.js';
import { requireCgroups } from '../support/cgroups.js';
import { LAUNCHERS, planOf, readState, run, shell, until } from './launch-helper.js';

const FIXTURE = fileURLToPath(new URL('../fixtures/native/launch-and-wait.mjs', import.meta.url));
/** Processes that the fixture names: two of the first child, one of each other. */
const FIXTURE_PIDS = 6;

const isGone = (pid: number) => [null, 'Z', 'X'].includes(readState(pid));

describe.each(LAUNCHERS)('guardian of the $name launcher', ({ name }) => {
  it('ends every child, also those that left group and session, when the server is killed', async () => {
    const server = spawn(process.execPath, [FIXTURE, name], { stdio: ['ignore', 'pipe', 'inherit'] });
    const pids: number[] = [];
    let guardian = 0;
    for await (const line of createInterface({ input: server.stdout })) {
      if (line.startsWith('guardian')) guardian = Number(line.split(' ')[1]);
      else pids.push(Number(line));
      if (pids.length === FIXTURE_PIDS && guardian > 0) break;
    }
    expect(pids.map((pid) => readState(pid))).not.toContain(null);
    server.kill('SIGKILL');
    await until(() => pids.every(isGone) && isGone(guardian));
  });
});

describe('guardian of a cgroup', () => {
  it('ends everybody in it, also those of whom nobody told it, and removes it', async (test) => {
    requireCgroups(test);
    const home = new CgroupHome(silentLogger);
    const launcher = createLauncher({ guardian: false, cgroups: false });
    onTestFinished(() => launcher.close());
    const startInGroup = (name: FixtureName) =>
      home.startInGroup(() => run(launcher, planOf(fixture(name), []))).started;
    const daemon = startInGroup('daemon');
    const [, pid] = await daemon.waitFor(/left (\d+)/);
    const storm = startInGroup('fork-storm');
    await storm.waitFor(/storm/);
    const guardian = startGuardian(loadLibc(), { cgroupHome: home.path, markPrefix: null });
    guardian.input.close();
    const keepAlive = setInterval(() => {}, 1_000);
    expect(await guardian.exit).toEqual({ kind: 'exited', code: 0 });
    clearInterval(keepAlive);
    await until(() => isGone(Number(pid)));
    expect(await daemon.done).toEqual({ kind: 'signaled', signal: 9 });
    expect(await storm.done).toEqual({ kind: 'signaled', signal: 9 });
    expect(existsSync(home.path)).toBe(false);
  });

  it('is told which, and is in none of its groups', async (test) => {
    requireCgroups(test);
    const launcher = new NativeLauncher({ guardian: true, cgroups: true, logger: silentLogger });
    onTestFinished(() => launcher.close());
    const child = run(launcher, shell(':'));
    await child.done;
    const read = (file: string) => readFileSync(`/proc/${launcher.guardianPid}/${file}`, 'utf8');
    await until(() => read('cmdline') !== '');
    const home = dirname(child.child.cgroup!.path);
    const ward = { cgroupHome: home, markPrefix: child.child.mark!.marks.prefix };
    expect(read('cmdline').split('\0').slice(0, -1)).toEqual(guardianArgv(ward));
    expect(read('cgroup')).toBe(readFileSync('/proc/self/cgroup', 'utf8'));
  });
});

describe('guardian', () => {
  let launcher: NativeLauncher;

  afterEach(() => launcher.close());

  it('is a session of its own that holds nothing of ours', async () => {
    launcher = new NativeLauncher({ guardian: true, cgroups: false, logger: silentLogger });
    expect(launcher.guardianPid).toBeNull();
    const child = run(launcher, shell(':'));
    await child.done;
    const pid = launcher.guardianPid!;
    const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').slice(0, -1);
    // The kernel fills it in while the exec is under way.
    await until(() => read('cmdline').length > 0);
    const { prefix } = child.child.mark!.marks;
    expect(read('cmdline')).toEqual(guardianArgv({ cgroupHome: null, markPrefix: prefix }));
    expect(read('environ')).toEqual([]);
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/');
    expect(readlinkSync(`/proc/${pid}/fd/1`)).toBe('/dev/null');
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGPIPE'] as const) {
      // Ignored only once the shell has read its first line of program.
      await until(() => ignoresSignal(pid, signal));
      process.kill(pid, signal);
    }
    // Only now: while the program was loaded, its libraries were open.
    expect(existsSync(`/proc/${pid}/fd/3`)).toBe(false);
    expect(isGone(pid)).toBe(false);
    await launcher.close();
    await until(() => isGone(pid));
  });

  it('is started again when it dies, and knows the children of before', async () => {
    launcher = new NativeLauncher({ guardian: true, cgroups: false, logger: silentLogger });
    const child = run(launcher, planOf('/bin/sleep', ['1000']));
    const first = launcher.guardianPid!;
    process.kill(first, 'SIGKILL');
    await until(() => launcher.guardianPid !== null && launcher.guardianPid !== first);
    // Closing ends what is left, through the new guardian.
    await launcher.close();
    expect(await child.done).toEqual({ kind: 'signaled', signal: 9 });
  });

  it('finds by its mark who left the session and lost its parents, and nobody with the mark of another', async () => {
    launcher = new NativeLauncher({ guardian: true, cgroups: false, logger: silentLogger });
    const other = new NativeLauncher({ guardian: false, cgroups: false, logger: silentLogger });
    onTestFinished(() => other.close());
    const [mine, others] = [launcher, other].map((owner) => run(owner, planOf(fixture('daemon'), [])));
    const [, daemon] = await mine!.waitFor(/left (\d+)/);
    const [, bystander] = await others!.waitFor(/left (\d+)/);
    await launcher.close();
    await until(() => isGone(Number(daemon)));
    expect(isGone(Number(bystander))).toBe(false);
    process.kill(Number(bystander), 'SIGKILL');
    others!.child.signalGroup(9);
  });

  it('does not end with the launcher what has been deleted', async () => {
    launcher = new NativeLauncher({ guardian: true, cgroups: false, logger: silentLogger });
    for (let round = 0; round < 50; round += 1) await run(launcher, shell(':')).done;
    const stranger = spawn('/bin/sleep', ['1000'], { detached: true });
    await launcher.close();
    expect(isGone(stranger.pid!)).toBe(false);
    stranger.kill('SIGKILL');
  });

  it('replaces a shell that does not read, and tells the new one only what still counts', async () => {
    const started: { lines: string; killed: boolean }[] = [];
    const startStub = (): GuardianProcess => {
      const state = { lines: '', killed: false, busy: false };
      started.push(state);
      const input: InputTarget & { readonly busy: boolean } = {
        get busy() {
          return state.busy;
        },
        // The first shell takes one write and no more.
        write: (bytes) => {
          state.lines += Buffer.from(bytes).toString();
          state.busy = started.length === 1;
          return state.busy ? new Promise(() => {}) : Promise.resolve();
        },
        endMark: () => undefined,
        close: () => {},
      };
      return {
        pid: started.length,
        input,
        exit: new Promise(() => {}),
        kill: () => {
          state.killed = true;
        },
      };
    };
    const guardian = new Guardian(startStub, silentLogger);
    guardian.add(7);
    // `+1000000\n` and `-1000000\n`: 18 bytes a round, against a backlog of 262,144.
    for (let round = 0; round < 14_563; round += 1) {
      guardian.add(1_000_000);
      guardian.delete(1_000_000);
    }
    expect(started).toHaveLength(1);
    guardian.add(1_000_000);
    guardian.delete(1_000_000);
    expect(started.map(({ killed }) => killed)).toEqual([true, false]);
    expect(started[1]!.lines).toMatch(/^\+7\n/);
    expect(started[1]!.lines.length).toBeLessThan(100);
  });

  it('keeps up with a thousand starts', async () => {
    launcher = new NativeLauncher({ guardian: true, cgroups: false, logger: silentLogger });
    const first = run(launcher, shell(':'));
    await first.done;
    const pid = launcher.guardianPid;
    for (let round = 0; round < 1_000; round += 20) {
      await Promise.all(Array.from({ length: 20 }, () => run(launcher, planOf('/bin/true', [])).done));
    }
    expect(launcher.guardianPid).toBe(pid);
    const child = run(launcher, planOf('/bin/sleep', ['1000']));
    await launcher.close();
    expect(await child.done).toEqual({ kind: 'signaled', signal: 9 });
  });
});

function ignoresSignal(pid: number, signal: NodeJS.Signals): boolean {
  const mask = readFileSync(`/proc/${pid}/status`, 'utf8').match(/SigIgn:\s(\w+)/)![1]!;
  const number = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGPIPE: 13, SIGTERM: 15 }[signal as string]!;
  return ((BigInt(`0x${mask}`) >> BigInt(number - 1)) & 1n) === 1n;
}
