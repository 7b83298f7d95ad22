import { execFileSync } from 'node:child_process';
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  isRunning,
  type RunningServer,
  requireProgram,
  skipFor,
  type Wire,
  waitForProcessGone,
} from '@exec-server/testing';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openSession, serve, startParams } from './session.js';

/** Long for the slowest machine, in milliseconds. */
const PATIENCE_MS = 20_000;
/** How long a session without a connection is kept here, in milliseconds. */
const DETACHED_MS = 50;

/** Deaf to polite signals, and with no stream of its process: writes its number into a file when it is settled. */
const LASTING = `exec </dev/null >/dev/null 2>&1; trap '' HUP TERM; echo "$$" >"$0"; exec sleep 300`;

/** Ways in which a program leaves others; \`$LASTING\` and \`$FILE\` are what each of them is made of. */
const KINDS: Readonly<Record<string, string>> = {
  'the program itself': 'exec sh -c "$LASTING" "$FILE"',
  'a child': 'sh -c "$LASTING" "$FILE" & wait',
  'left in the background': 'sh -c "$LASTING" "$FILE" &',
  'left by nohup': 'nohup sh -c "$LASTING" "$FILE" &',
  'left by a subshell': '( ( sh -c "$LASTING" "$FILE" & ) & ); exec sleep 300',
  'left by disown': 'exec bash -c \'sh -c "$LASTING" "$FILE" & disown\'',
  'a job in a group of its own': 'exec bash -c \'set -m; sh -c "$LASTING" "$FILE" & :\'',
  'in a session of its own': 'setsid sh -c "$LASTING" "$FILE" & wait',
  'left in a session of its own': 'setsid sh -c "$LASTING" "$FILE" &',
  'left by a fork of setsid': 'setsid --fork sh -c "$LASTING" "$FILE"; exec sleep 300',
  'a daemon of a program that stays': `setsid sh -c 'setsid sh -c "$LASTING" "$FILE" & :'; exec sleep 300`,
  'a daemon of a program that ends': `setsid sh -c '( setsid sh -c "$LASTING" "$FILE" & ) & :' &`,
};

const MODES = [
  { mode: 'cgroups', args: [] },
  { mode: 'no cgroups', args: ['--cgroups', 'false'] },
];

interface Started {
  readonly processId: string;
  readonly pid: number;
}

/** Starts one of each kind on pipes and on a terminal, and tells the number of who lasts. */
async function startAll(wire: Wire): Promise<Started[]> {
  const directory = await mkdtemp(join(tmpdir(), 'orphans-'));
  const starts = Object.entries(KINDS).flatMap(([kind, script]) =>
    [false, true].map(async (tty) => {
      const processId = `${kind}, ${tty ? 'terminal' : 'pipes'}`;
      const file = join(directory, processId.replaceAll(' ', '-'));
      const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LASTING, FILE: file };
      // A terminal that loses its session hangs up on whoever it does not find ignoring that.
      const argv = ['/bin/sh', '-c', `trap '' HUP; ${script}`];
      const { error } = await wire.request('process/start', startParams(processId, argv, { tty, env }));
      expect(error).toBeUndefined();
      return { processId, pid: await readNumberIn(file) };
    }),
  );
  const started = await Promise.all(starts);
  // Whatever a test finds, it leaves nothing.
  onTestFinished(() => {
    for (const { pid } of started) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  });
  return started;
}

async function readNumberIn(file: string): Promise<number> {
  return await vi.waitFor(
    async () => {
      const text = await readFile(file, 'utf8');
      if (!text.endsWith('\n')) throw new Error(`nothing in ${file}`);
      return Number(text);
    },
    { timeout: PATIENCE_MS },
  );
}

async function untilGone(started: readonly Started[]): Promise<void> {
  await Promise.allSettled(started.map(({ pid }) => waitForProcessGone(pid)));
  expect(started.filter(({ pid }) => isRunning(pid))).toEqual([]);
}

/** Children of a process that have ended and were not reaped. */
function findZombies(parent: number): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      return stat.slice(stat.lastIndexOf(')') + 2).startsWith(`Z ${parent} `);
    } catch {
      return false;
    }
  });
}

async function begin(
  args: readonly string[],
): Promise<{ server: RunningServer; wire: Wire; started: Started[] }> {
  const server = await serve(...args, '--detached-session-ms', String(DETACHED_MS));
  const { wire } = await openSession(server.url);
  const started = await startAll(wire);
  expect(started.filter(({ pid }) => !isRunning(pid))).toEqual([]);
  return { server, wire, started };
}

describe.each(MODES)('with $mode nothing is left, whatever a program did to leave it,', ({ args }) => {
  it('by process/terminate', async () => {
    const { server, wire, started } = await begin(args);
    for (const { processId, pid } of started) {
      await wire.request('process/terminate', { processId, leftovers: true, wait: true });
      expect({ processId, running: isRunning(pid) }).toEqual({ processId, running: false });
    }
    // Who lost his parents is the server's to reap.
    await vi.waitFor(() => expect(findZombies(server.pid)).toEqual([]), { timeout: PATIENCE_MS });
  });

  it('by the end of a session, while another goes on', async () => {
    const { server, wire, started } = await begin(args);
    const { wire: other } = await openSession(server.url);
    const others = await startAll(other);
    wire.terminate();
    await untilGone(started);
    expect(others.filter(({ pid }) => !isRunning(pid))).toEqual([]);
  });

  it('by TERM of the server', async () => {
    const { server, started } = await begin(args);
    server.kill('SIGTERM');
    expect(await server.exited).toEqual({ code: 0, signal: null });
    await untilGone(started);
  });

  it('by KILL of the server', async () => {
    const { server, started } = await begin(args);
    server.kill('SIGKILL');
    await server.exited;
    await untilGone(started);
  });
});

it('a daemon that has shed what it was marked with ends with the server, without cgroups, too', async (test) => {
  requireProgram('prlimit', test);
  const server = await serve('--cgroups', 'false');
  const { wire } = await openSession(server.url);
  const file = join(await mkdtemp(join(tmpdir(), 'orphans-')), 'pid');
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LASTING, FILE: file };
  const script = `setsid sh -c 'prlimit --pid $$ --locks=unlimited; setsid sh -c "$LASTING" "$FILE" & :'`;
  await wire.request('process/start', startParams('p', ['/bin/sh', '-c', script], { env }));
  const pid = await readNumberIn(file);
  server.kill('SIGTERM');
  await server.exited;
  await waitForProcessGone(pid);
});

/** Goes on under another number, in a session of its own, every two milliseconds, and tells if it may do so to the end. */
const HOPPER = `
  use POSIX; use Time::HiRes qw(sleep);
  open STDIN, '<', '/dev/null'; open STDOUT, '>', '/dev/null'; open STDERR, '>', '/dev/null';
  open FIFO, '>', $ARGV[0];
  my $end = time + 15;
  for (my $hops = 0; time < $end; $hops++) {
    syswrite FIFO, "begun\\n" if $hops == 50;
    my $child = fork;
    POSIX::_exit(0) if $child;
    POSIX::setsid() if defined $child;
    sleep 0.002;
  }
  syswrite FIFO, "survived\\n";`;

/** Ways to end what a process has started. */
const ENDS: Readonly<Record<string, (parts: { server: RunningServer; wire: Wire }) => Promise<unknown>>> = {
  'process/terminate': ({ wire }) =>
    wire.request('process/terminate', { processId: 'p', leftovers: true, wait: true }),
  'the end of its session': async ({ wire }) => wire.terminate(),
  'TERM of the server': async ({ server }) => server.kill('SIGTERM'),
  'KILL of the server': async ({ server }) => server.kill('SIGKILL'),
};

describe.each(MODES)('with $mode a program that goes on under another number all the time', ({ args }) => {
  beforeEach((test) => requireProgram('perl', test));

  it.each(Object.keys(ENDS))('is ended by %s', async (way) => {
    const directory = await mkdtemp(join(tmpdir(), 'orphans-'));
    const fifo = join(directory, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const server = await serve(...args, '--detached-session-ms', String(DETACHED_MS));
    const { wire } = await openSession(server.url);
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOPPER, FIFO: fifo };
    const argv = ['/bin/sh', '-c', 'perl -e "$HOPPER" "$FIFO" & exec sleep 300'];
    await wire.request('process/start', startParams('p', argv, { env }));
    const lines: string[] = [];
    // The other end is closed when the last of them is gone.
    for await (const line of createInterface({ input: createReadStream(fifo) })) {
      lines.push(line);
      if (line === 'begun') await ENDS[way]?.({ server, wire });
    }
    expect(lines).toEqual(['begun']);
  });
});

describe.each(MODES)("with $mode a daemon that has become another user's", ({ args }) => {
  beforeEach((test) => {
    if (process.getuid?.() !== 0) skipFor(test, 'root');
    requireProgram('setpriv', test);
  });

  it.each(Object.keys(ENDS))('is ended by %s', async (way) => {
    const directory = await mkdtemp(join(tmpdir(), 'orphans-'));
    await chmod(directory, 0o777);
    const file = join(directory, 'pid');
    const server = await serve(...args, '--detached-session-ms', String(DETACHED_MS));
    const { wire } = await openSession(server.url);
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LASTING, FILE: file };
    const script = `setsid setpriv --reuid=65534 --clear-groups sh -c '( sh -c "$LASTING" "$FILE" & ) & :' & exec sleep 300`;
    await wire.request('process/start', startParams('p', ['/bin/sh', '-c', script], { env }));
    const pid = await readNumberIn(file);
    onTestFinished(() => {
      if (isRunning(pid)) process.kill(pid, 'SIGKILL');
    });
    await ENDS[way]?.({ server, wire });
    await waitForProcessGone(pid);
  });
});
