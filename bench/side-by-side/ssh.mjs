// The same questions to OpenSSH, where it is installed: a server of its own on loopback, one multiplexed connection.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { makeDirectory, ownChild, removeDirectory } from './leftovers.mjs';
import { measureSeconds, sampleMs, samplesOf } from './measure.mjs';

const SSHD = '/usr/sbin/sshd';
/** Where the daemon of most distributions insists on an empty directory when root runs it. */
const PRIVILEGE_SEPARATION = '/run/sshd';
const MIB = 1024 * 1024;
/** Longest time of a short command that is waited for. */
const COMMAND_LIMIT_MS = 10_000;
const CONNECT_ATTEMPTS = 50;
const CONNECT_PAUSE_MS = 100;

/** Figures of `ssh`, or why there are none. */
export async function measureSsh(scale) {
  if (!existsSync(SSHD) || spawnSync('ssh', ['-V']).error !== undefined)
    return { skipped: 'no OpenSSH here' };
  const home = makeDirectory('ssh');
  const madeDirectory = process.getuid() === 0 && !existsSync(PRIVILEGE_SEPARATION);
  if (madeDirectory) mkdirSync(PRIVILEGE_SEPARATION, { mode: 0o755 });
  const port = await findFreePort();
  const daemon = startDaemon(home, port);
  const target = describeClient(home, port);
  const children = [daemon];
  try {
    if (!(await comesTrue(() => accepts(port)))) return { skipped: 'sshd did not start' };
    children.push(ownChild(spawn('ssh', ['-M', '-N', ...target], { stdio: 'ignore' })));
    if (!(await comesTrue(() => isConnected(target)))) return { skipped: 'sshd did not answer' };
    return await measureConnection(target, scale);
  } finally {
    for (const child of children) child.kill();
    removeDirectory(home);
    if (madeDirectory) rmdirSync(PRIVILEGE_SEPARATION);
  }
}

/** An `sshd` that knows one key, of a user and of a host that were made for it; nothing of the system's own is read. */
function startDaemon(home, port) {
  for (const name of ['host', 'user'])
    spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(home, name)], {
      timeout: COMMAND_LIMIT_MS,
    });
  writeFileSync(join(home, 'authorized_keys'), readFileSync(join(home, 'user.pub')), { mode: 0o600 });
  const options = {
    ListenAddress: `127.0.0.1:${port}`,
    HostKey: join(home, 'host'),
    AuthorizedKeysFile: join(home, 'authorized_keys'),
    PidFile: 'none',
    StrictModes: 'no',
    UsePAM: 'no',
    PermitRootLogin: 'yes',
    PrintMotd: 'no',
    PrintLastLog: 'no',
  };
  const args = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  return ownChild(spawn(SSHD, ['-D', '-f', '/dev/null', ...args], { stdio: 'ignore' }));
}

/** Arguments by which `ssh` reaches the daemon, through one connection that all share. */
function describeClient(home, port) {
  return [
    ...['-F', '/dev/null', '-p', String(port), '-i', join(home, 'user'), '-l', userInfo().username],
    ...['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR'],
    ...['-o', `ControlPath=${join(home, 'control')}`, '127.0.0.1'],
  ];
}

async function measureConnection(target, scale) {
  const starts = await sampleMs(() => runToEnd(target, 'true'), samplesOf(50, scale));
  const bytes = Math.ceil(256 * scale) * MIB;
  const seconds = await measureSeconds(() => runToEnd(target, `head -c ${bytes} /dev/zero`));
  return {
    startMs: starts.percentile(0.5),
    echoMs: await measureEcho(target, scale),
    mbPerSecond: bytes / 1e6 / seconds,
  };
}

/** One key to a terminal and its echo back. */
async function measureEcho(target, scale) {
  const child = ownChild(spawn('ssh', ['-tt', ...target, 'cat'], { stdio: ['pipe', 'pipe', 'ignore'] }));
  const press = () =>
    new Promise((resolve) => {
      child.stdout.once('data', resolve);
      child.stdin.write('x');
    });
  try {
    await press();
    return (await sampleMs(press, samplesOf(100, scale))).percentile(0.5);
  } finally {
    child.kill();
  }
}

async function comesTrue(check) {
  for (let attempt = 0; attempt < CONNECT_ATTEMPTS; attempt++) {
    if (await check()) return true;
    await new Promise((resolve) => setTimeout(resolve, CONNECT_PAUSE_MS));
  }
  return false;
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      resolve(true);
      socket.destroy();
    });
    socket.on('error', () => resolve(false));
  });
}

function isConnected(target) {
  const options = { stdio: 'ignore', timeout: COMMAND_LIMIT_MS };
  return spawnSync('ssh', ['-O', 'check', ...target], options).status === 0;
}

async function runToEnd(target, command) {
  const child = ownChild(spawn('ssh', [...target, command], { stdio: ['ignore', 'pipe', 'ignore'] }));
  child.stdout.on('data', () => {});
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`\`ssh … ${command}\` ended with ${code}`);
}

async function findFreePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
