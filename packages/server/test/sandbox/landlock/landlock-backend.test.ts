import { readdir, readFile, stat } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { describeAttempts } from '../../support/confined-attempts.js';
import { CLOSED_PROXY } from '../../support/network-proxy.js';
import { pattern, READ_ROOT, rule, sandboxOf, special } from '../../support/sandbox.js';

const READ_ONLY = sandboxOf([READ_ROOT]);
const EPERM = 1;

describeAttempts({ backends: ['landlock'] }, (attempts) => {
  const { shell, perl, attempt, inWorkspace, outside } = attempts;

  it('reads everything, runs programs and keeps their ends', async () => {
    const { output, exitCode } = await shell(
      `cat '${outside('file')}'; echo; ls /proc/self/fd; echo x > /dev/null && exit 7`,
      READ_ONLY,
    );
    expect(output).toBe('untouched\n0\n1\n2\n3\n');
    expect(exitCode).toBe(7);
    expect(await shell('kill -KILL $$', READ_ONLY)).toMatchObject({ exitCode: 128 + 9 });
  });

  it('writes nothing, neither contents nor names nor what files are like', async () => {
    const before = await stat(outside('file'));
    const ways = [
      'echo x > new',
      `echo x >> '${outside('file')}'`,
      `: > '${outside('file')}'`,
      `perl -e 'truncate($ARGV[0], 0) or die $!' '${outside('file')}'`,
      `mv '${outside('file')}' moved`,
      `rm '${outside('file')}'`,
      'mkdir directory',
      `ln '${outside('file')}' hard`,
      'ln -s x soft',
      'mkfifo fifo',
      `chmod 600 '${outside('file')}'`,
      `chown "$(id -u)" '${outside('file')}'`,
      `touch '${outside('file')}'`,
      `touch -d 2001-01-01 '${outside('file')}'`,
      `chattr +d '${outside('file')}'`,
      'echo x > /dev/shm/exec-server-landlock',
      'echo x > /proc/self/comm',
    ];
    for (const way of ways) {
      const { exitCode } = await shell(way, READ_ONLY);
      expect([way, exitCode === 0]).toEqual([way, false]);
    }
    expect(await readdir(inWorkspace())).toEqual([]);
    expect(await readFile(outside('file'), 'utf8')).toBe('untouched');
    const after = await stat(outside('file'));
    expect([after.mode, after.mtimeMs, after.ctimeMs]).toEqual([before.mode, before.mtimeMs, before.ctimeMs]);
    expect((await shell(`echo x > '${outside('file')}'`, READ_ONLY)).sandboxDenied).toBe(true);
  });

  it('reaches nobody: no socket, no other process, no shared memory', async () => {
    const sockets = ['1, 1, 0', '1, 2, 0', '2, 1, 0', '2, 2, 0', '10, 1, 0', '16, 3, 0'];
    const script = sockets.map((args) => `print socket(S, ${args}) ? "made" : $!+0, " ";`).join(' ');
    expect((await perl(script, READ_ONLY)).output.trim()).toBe(sockets.map(() => EPERM).join(' '));
    const pairs = 'use Socket; for (1, 2, 5) { print socketpair(A, B, AF_UNIX, $_, 0) ? "made" : $!+0, " " }';
    expect((await perl(pairs, READ_ONLY)).output.trim()).toBe(`made ${EPERM} made`);
    const { pid } = attempts.server;
    const others = `kill -0 ${pid} && echo signaled; cat /proc/${pid}/environ && echo read; readlink /proc/${pid}/fd/0 /proc/${pid}/cwd && echo looked`;
    expect((await shell(others, READ_ONLY)).output).not.toMatch(/signaled|read\n|looked/);
    expect((await perl('print shmget(1234, 10, 0600 | 512) // $!+0', READ_ONLY)).output).toBe(String(EPERM));
  });

  it('changes nothing of its restrictions', async () => {
    const { output } = await shell(
      'mount -t tmpfs none /mnt && echo mounted; unshare -Ur true && echo unshared; grep -E "^(NoNewPrivs|CapEff|CapPrm)" /proc/self/status',
      READ_ONLY,
    );
    expect(output).not.toMatch(/mounted|unshared/);
    expect(output).toContain('NoNewPrivs:\t1');
    expect(output.match(/Cap\w+:\t0000000000000000/g)).toHaveLength(2);
  });

  it('has its terminal', async () => {
    const { output } = await attempt(['/bin/sh', '-c', 'tty; stty size'], READ_ONLY, {
      tty: true,
      size: { rows: 10, cols: 20 },
    });
    expect(output).toMatch(/^\/dev\/pts\/\d+\r\n10 20\r\n$/);
  });

  it('does file operations that read', async () => {
    expect(await attempts.read(outside('file'), READ_ONLY)).toBe('untouched');
    expect(await attempts.write(outside('file'), READ_ONLY)).toBe(-32600);
  });

  it.each([
    ['a directory to write', () => attempts.usual(), 'it lets a program write nothing'],
    [
      'everything to write',
      () => sandboxOf([special({ kind: 'root' }, 'write')]),
      'it lets a program write nothing',
    ],
    ['a denied path', () => sandboxOf([READ_ROOT, rule('/etc', 'deny')]), 'it cannot deny reading'],
    ['a denied pattern', () => sandboxOf([READ_ROOT, pattern('/etc/*.x', 'deny')]), 'it cannot deny reading'],
    ['only some paths', () => sandboxOf([rule('/usr', 'read')]), 'it cannot deny reading'],
    [
      'the network',
      () => sandboxOf([READ_ROOT], { network: 'enabled' }),
      'it cannot hide control sockets from a program with a network',
    ],
  ])('refuses %s', async (name, sandbox, reason) => {
    const { error } = await attempts.wire.request('process/start', {
      processId: `refused ${name}`,
      argv: ['/bin/true'],
      cwd: 'file:///',
      env: {},
      tty: false,
      sandbox: sandbox(),
    });
    expect(error).toMatchObject({
      code: -32602,
      message: `sandbox intent cannot be enforced on this executor: landlock: ${reason}`,
    });
  });

  it('refuses a proxy', async () => {
    const { error } = await attempts.wire.request('process/start', {
      processId: 'proxied',
      argv: ['/bin/true'],
      cwd: 'file:///',
      env: {},
      tty: false,
      sandbox: READ_ONLY,
      enforceManagedNetwork: true,
      networkProxy: { proxy: CLOSED_PROXY },
    });
    expect(error?.message).toMatch(/landlock: it has no network of its own/);
  });
});
