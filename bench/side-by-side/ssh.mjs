// The same two questions to OpenSSH, where it is installed: a server of its own on loopback, one multiplexed connection.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

const SSHD = '/usr/sbin/sshd';
const MIB = 1024 * 1024;

/** Figures of `ssh`, or why there are none. */
export async function measureSsh(scale) {
  if (!existsSync(SSHD) || spawnSync('ssh', ['-V']).error !== undefined)
    return { skipped: 'no OpenSSH here' };
  process.stderr.write('ssh\n');
  const home = mkdtempSync(join(tmpdir(), 'exec-server-bench-ssh-'));
  const port = await freePort();
  const keygen = (name) => spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(home, name)]);
  keygen('host');
  keygen('user');
  writeFileSync(join(home, 'authorized_keys'), readFileSync(join(home, 'user.pub')), { mode: 0o600 });
  const options = {
    ListenAddress: `127.0.0.1:${port}`,
    HostKey: join(home, 'host'),
    AuthorizedKeysFile: join(home, 'authorized_keys'),
    PidFile: 'none',
    StrictModes: 'no',
    UsePAM: 'no',
    PermitRootLogin: 'yes',
  };
  const daemon = spawn(
    SSHD,
    [
      '-D',
      '-f',
      '/dev/null',
      ...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
    ],
    { stdio: 'ignore' },
  );
  const client = [
    ...['-F', '/dev/null', '-p', String(port), '-i', join(home, 'user'), '-l', userInfo().username],
    ...['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR'],
    ...['-o', `ControlPath=${join(home, 'control')}`, '127.0.0.1'],
  ];
  const master = spawn('ssh', ['-M', '-N', ...client], { stdio: 'ignore' });
  try {
    if (!(await answers(client))) return { skipped: 'sshd did not answer' };
    const starts = Math.round(50 * scale);
    const times = [];
    for (let n = 0; n < starts; n++) times.push(await seconds(client, 'true'));
    const bytes = Math.round(256 * scale) * MIB;
    const stream = await seconds(client, `head -c ${bytes} /dev/zero`);
    return {
      '`ssh host true` over one connection, p50, ms': times.toSorted((a, b) => a - b)[starts >> 1] * 1000,
      'output over ssh, MB/s': bytes / 1e6 / stream,
    };
  } finally {
    master.kill();
    daemon.kill();
    rmSync(home, { recursive: true, force: true });
  }
}

async function answers(client) {
  for (let attempt = 0; attempt < 50; attempt++) {
    if (spawnSync('ssh', ['-O', 'check', ...client], { stdio: 'ignore' }).status === 0) return true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}

async function seconds(client, command) {
  const started = process.hrtime.bigint();
  const child = spawn('ssh', [...client, command], { stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.on('data', () => {});
  await new Promise((resolve) => child.once('close', resolve));
  return Number(process.hrtime.bigint() - started) / 1e9;
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
