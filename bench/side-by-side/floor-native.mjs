// Children, pipes and terminals by the C library as the server uses it, but blocking and with nothing around it.
import { Buffer } from 'node:buffer';
import { closeSync, openSync } from 'node:fs';
import { DescriptorScope } from '../../packages/server/dist/native/descriptors.js';
import { loadLibc } from '../../packages/server/dist/native/libc.js';
import { openPty } from '../../packages/server/dist/native/pty.js';
import { spawnProcess } from '../../packages/server/dist/native/spawn.js';
import { SHORT_LINES, writeLines } from './processes.mjs';
import { median, Samples } from './statistics.mjs';

const MIB = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
const LARGE_PIPE_BYTES = MIB;
const AT_A_TIME = 32;
const LINE_RUNS = 5;
/** As many as a server with 2,000 live processes has open. */
const MANY_DESCRIPTORS = 4000;

const O_RDWR = 2;
const O_CLOEXEC = 0o2000000;
const F_SETFL = 4;
const F_SETPIPE_SZ = 1031;

export function measureSpawns(scale) {
  const libc = loadLibc();
  const count = Math.ceil(400 * scale);
  sampleStarts(libc, count / 4);
  const starts = sampleStarts(libc, count);
  return {
    spawnMs: starts.percentile(0.5),
    spawnP99Ms: starts.percentile(0.99),
    spawnsPerSecond: measureParallelStarts(libc, count),
    spawnGrowth: sampleStartsAmongMany(libc, count / 2).percentile(0.5) / starts.percentile(0.5),
    linesPerSecond: measureLines(libc),
    ...measureRead(libc, 'pipe', Math.ceil(512 * scale) * MIB),
    ...measureRead(libc, 'pty', Math.ceil(160 * scale) * MIB),
  };
}

function sampleStarts(libc, count) {
  const times = [];
  while (times.length < count) {
    const started = performance.now();
    waitFor(libc, startProcess(libc, ['/bin/true'], []));
    times.push(performance.now() - started);
  }
  return new Samples(times);
}

function sampleStartsAmongMany(libc, count) {
  const open = Array.from({ length: MANY_DESCRIPTORS }, () => openSync('/dev/null'));
  try {
    return sampleStarts(libc, count);
  } finally {
    for (const fd of open) closeSync(fd);
  }
}

function measureParallelStarts(libc, count) {
  const running = [];
  const started = performance.now();
  for (let n = 0; n < count; n++) {
    if (running.length === AT_A_TIME) waitFor(libc, running.shift());
    running.push(startProcess(libc, ['/bin/true'], []));
  }
  for (const pid of running) waitFor(libc, pid);
  return count / ((performance.now() - started) / 1000);
}

/** What a shell writes that nobody reads. */
function measureLines(libc) {
  const stdio = [{ kind: 'open', path: '/dev/null', flags: O_RDWR, as: 1 }];
  const times = [];
  while (times.length < LINE_RUNS) {
    const started = performance.now();
    waitFor(libc, startProcess(libc, writeLines(SHORT_LINES), stdio));
    times.push((performance.now() - started) / 1000);
  }
  return SHORT_LINES / median(times);
}

/** Reads what a child writes with one call after the other into one buffer. */
function measureRead(libc, kind, bytes) {
  const scope = new DescriptorScope(libc);
  const { fd, stdio, theirs } = kind === 'pipe' ? openBarePipe(libc, scope) : openBarePty(libc, scope);
  const into = Buffer.alloc(CHUNK_BYTES);
  const cpuBefore = process.cpuUsage();
  const started = performance.now();
  const pid = startProcess(libc, ['/usr/bin/head', '-c', String(bytes), '/dev/zero'], stdio);
  scope.close(theirs);
  while (libc.read(fd, into, into.length) > 0);
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  scope.closeAll();
  waitFor(libc, pid);
  return {
    [`${kind}MbPerSecond`]: bytes / 1e6 / seconds,
    [`${kind}CpuSecondsPerGb`]: (user + system) / 1e6 / (bytes / 1e9),
  };
}

function openBarePipe(libc, scope) {
  const ends = new Int32Array(2);
  if (libc.pipe2(ends, O_CLOEXEC) !== 0) throw new Error('no pipe');
  libc.fcntl(ends[0], F_SETPIPE_SZ, LARGE_PIPE_BYTES);
  const theirs = scope.own(ends[1]);
  return { fd: scope.own(ends[0]), theirs, stdio: [{ kind: 'duplicate', fd: theirs, as: 1 }] };
}

function openBarePty(libc, scope) {
  const { master, slave, slavePath } = openPty(libc, { rows: 24, cols: 80 }, scope);
  libc.fcntl(master, F_SETFL, O_RDWR);
  return { fd: master, theirs: slave, stdio: [{ kind: 'open', path: slavePath, flags: O_RDWR, as: 1 }] };
}

function startProcess(libc, argv, stdio) {
  return spawnProcess(libc, { program: argv[0], argv, cwd: '/', env: [], extraDescriptors: [], stdio });
}

function waitFor(libc, pid) {
  if (libc.waitpid(pid, new Int32Array(1), 0) !== pid) throw new Error(`no end of ${pid}`);
}
