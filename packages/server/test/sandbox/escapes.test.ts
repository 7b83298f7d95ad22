import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { SandboxContext } from '@exec-server/protocol';
import { skipFor } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { describeAttempts } from '../support/confined-attempts.js';
import { machineProgram } from '../support/machine-code.js';
import { pattern, READ_ROOT, rule, sandboxOf, special } from '../support/sandbox.js';

const LEAK = 'of the server alone';
const UNRESTRICTED_FILES: SandboxContext['permissions'] = {
  type: 'managed',
  network: 'restricted',
  file_system: { type: 'unrestricted' },
};
const HARMLESS_DEVICES = ['console', 'full', 'null', 'ptmx', 'random', 'tty', 'urandom', 'zero'].map(
  (name) => `/dev/${name}`,
);

describeAttempts({ env: { EXEC_TEST_LEAK: LEAK } }, (attempts) => {
  const { user, inWorkspace, outside, usual, attempt, shell, perl } = attempts;

  it('writes where it may, so that what follows means something', async () => {
    expect(await shell('echo mine > file && cat file')).toEqual({
      exitCode: 0,
      output: 'mine\n',
      sandboxDenied: false,
    });
    expect(await readFile(inWorkspace('file'), 'utf8')).toBe('mine\n');
  });

  it('does not write outside: by path, by `..`, through a link, through /proc', async () => {
    await symlink('../outside', inWorkspace('link'));
    const ways = [
      outside('file'),
      '../outside/file',
      'link/file',
      'link/../outside/file',
      `/proc/self/root${outside('file')}`,
      `/proc/1/root${outside('file')}`,
      '/proc/self/cwd/../outside/file',
    ];
    for (const way of ways) {
      const { exitCode } = await shell(`echo broken > '${way}'`);
      expect([way, exitCode === 0]).toEqual([way, false]);
    }
    expect(await readFile(outside('file'), 'utf8')).toBe('untouched');
  });

  it('does not make a hard link to what is outside', async () => {
    const { output } = await shell(`ln '${outside('file')}' stolen; echo broken > stolen`);
    expect(output).toMatch(/Invalid cross-device link/);
    expect(await readFile(outside('file'), 'utf8')).toBe('untouched');
  });

  it('does not see other processes, nor their descriptors, nor can it signal them', async () => {
    const { output } = await shell(
      `ls -d /proc/[0-9]*; ls -l /proc/${attempts.server.pid}/fd /proc/1/fd; kill -0 ${attempts.server.pid}; kill -9 -1; echo alive`,
    );
    const pids = [...output.matchAll(/^\/proc\/(\d+)$/gm)].map(([, pid]) => Number(pid));
    expect(Math.max(...pids)).toBeLessThan(10);
    expect(output).toMatch(/kill: No such process/);
    expect(output).not.toMatch(/socket:|\.sock|eventpoll/);
    expect((await attempts.wire.request('environment/status', {})).result).toEqual({ status: 'ready' });
  });

  it('has nothing but its three descriptors', async () => {
    const { output } = await shell('ls /proc/self/fd');
    // The listing has one for itself.
    expect(output.trim().split('\n')).toEqual(['0', '1', '2', '3']);
    const written = await shell('for fd in 3 4 5 6 7 8 9; do echo broken >&$fd; done');
    expect(written.output.match(/Bad file descriptor/g)).toHaveLength(7);
  });

  it('knows nothing of the environment of the server', async () => {
    const { output } = await shell('env; cat /proc/*/environ /proc/*/cmdline');
    expect(output).not.toContain(LEAK);
    expect(output).not.toMatch(/EXEC_TEST|EXEC_SERVER/);
  });

  it('cannot change its own sandbox', async (test) => {
    if (process.arch !== 'x64') skipFor(test, 'x64');
    const calls = {
      ptrace: '101, 16, 1, 0, 0',
      process_vm_readv: '310, 1, 0, 0, 0, 0, 0',
      mount: '165, $s, $s, $s, 0, 0',
      umount2: '166, $s, 2',
      pivot_root: '155, $s, $s',
      chroot: '161, $s',
      fsopen: '430, $s, 0',
      move_mount: '429, 0, $s, 0, $s, 0',
      open_tree_attr: '467, -100, $s, 1, 0, 0',
      setns: '308, 0, 0',
      'unshare(NEWUSER)': '272, 0x10000000',
      'unshare(NEWNS)': '272, 0x20000',
      'clone(NEWUSER)': '56, 0x10000011, 0, 0, 0, 0',
      keyctl: '250, 0, -3, 0, 0, 0',
      add_key: '248, $s, $s, $s, 1, -3',
      bpf: '321, 0, $s, 0',
      perf_event_open: '298, $s, 0, 0, -1, 0',
      io_uring_setup: '425, 1, $s',
      userfaultfd: '323, 0',
      open_by_handle_at: '304, 0, $s, 0',
    };
    const script = Object.entries(calls)
      .map(([name, args]) => `$s = "/tmp"; $r = syscall(${args}); print "${name} ", $r, " ", $!+0, "\\n";`)
      .join(' ');
    const EPERM = 1;
    const { output } = await perl(script);
    expect(output.trim().split('\n')).toEqual(Object.keys(calls).map((name) => `${name} -1 ${EPERM}`));
    const ENOSYS = 38;
    // clone3, openat2 and what is newer than the filter.
    for (const call of [435, 437, 472])
      expect((await perl(`syscall(${call}, 0, 0); print $!+0`)).output).toBe(String(ENOSYS));
  });

  it('cannot have who waits for it do what the filter keeps from itself', async () => {
    const { output } = await shell(
      'if (exec 3<>/proc/1/mem) 2>/dev/null; then grep "^Seccomp:" /proc/1/status; else echo closed; fi',
    );
    expect(output).toMatch(/^(closed|Seccomp:\t2)\n$/);
  });

  it('cannot mount, nor make user namespaces, with the usual tools', async () => {
    const { output } = await shell(
      'mount -t tmpfs none /mnt && echo mounted; unshare -Ur true && echo unshared',
    );
    expect(output).not.toMatch(/mounted|unshared/);
  });

  it('is ended by calls that the filter cannot see', async (test) => {
    if (process.arch !== 'x64') skipFor(test, 'x64');
    // getpid() by the numbers of x32, then exit(0).
    await writeFile(inWorkspace('x32'), machineProgram('b827000040 0f05 31ff b83c000000 0f05'), {
      mode: 0o755,
    });
    expect(await attempt(['./x32'])).toMatchObject({ exitCode: 128 + 31, sandboxDenied: true });
    // The same without the bit is harmless: it is the call that ends it.
    await writeFile(inWorkspace('x64'), machineProgram('b827000000 0f05 31ff b83c000000 0f05'), {
      mode: 0o755,
    });
    expect(await attempt(['./x64'])).toMatchObject({ exitCode: 0, sandboxDenied: false });
  });

  it('cannot type at its own terminal', async () => {
    const script = 'my $c = "x"; ioctl(STDIN, 0x5412, $c) and print "typed"; print $!+0, "\\n"';
    expect((await perl(script, undefined, { tty: true })).output).toBe('1\r\n');
  });

  it('has no network: neither sockets, nor addresses, nor abstract names', async () => {
    const name = `\\0exec-server-escapes-${process.pid}-${user}`;
    const address = `use Socket; my $a = pack_sockaddr_un("${name}"); socket(S, AF_UNIX, SOCK_STREAM, 0) or die;`;
    const listen = `${address} $| = 1; bind(S, $a) && listen(S, 9) or die; print "ready"; sleep 100`;
    const processId = `abstract-${user}`;
    await attempts.wire.request('process/start', {
      processId,
      argv: ['perl', '-e', listen],
      cwd: 'file:///',
      env: { PATH: '/usr/bin:/bin' },
      tty: false,
    });
    await attempts.wire.next(
      ({ method, params }) => method === 'process/output' && params?.processId === processId,
      'the listener',
    );
    try {
      const EPERM = 1;
      const families = {
        inet: '2, 1, 0',
        raw: '2, 3, 1',
        inet6: '10, 1, 0',
        netlink: '16, 3, 0',
        packet: '17, 3, 0',
        vsock: '40, 1, 0',
      };
      const sockets = Object.entries(families)
        .map(([family, args]) => `socket(S, ${args}) and print "${family}"; print $!+0, " ";`)
        .join(' ');
      expect((await perl(sockets)).output.trim().split(' ').map(Number)).toEqual(
        Object.keys(families).map(() => EPERM),
      );
      const unix = `${address} connect(S, $a) and print "connected"; print $!+0`;
      const ECONNREFUSED = 111;
      expect((await perl(unix)).output).toBe(String(ECONNREFUSED));
      // It can be reached by whoever is not confined.
      expect((await perl(unix, sandboxOf([READ_ROOT], { network: 'enabled' }))).output).toMatch(/^connected/);
      const metadata = await attempt(['bash', '-c', 'exec 3<>/dev/tcp/169.254.169.254/80 && echo reached']);
      expect(metadata.output).not.toContain('reached');
    } finally {
      await attempts.wire.request('process/terminate', { processId });
    }
  });

  it('does not change the machine by what the kernel shows as files', async () => {
    const paths = [
      '/proc/sys/kernel/core_pattern',
      '/proc/sysrq-trigger',
      '/sys/kernel/uevent_helper',
      '/proc/sys/kernel/hostname',
    ];
    for (const path of paths) {
      const { exitCode } = await shell(`echo broken > ${path}`);
      expect([path, exitCode === 0]).toEqual([path, false]);
    }
  });

  it.each<[string, SandboxContext]>([
    ['all files', { ...sandboxOf([]), permissions: UNRESTRICTED_FILES }],
    ['every file by a rule', sandboxOf([special({ kind: 'root' }, 'write')])],
    ['every file but one', sandboxOf([special({ kind: 'root' }, 'write'), rule('/etc/hostname', 'deny')])],
  ])('does not change the machine where it may write %s', async (_name, sandbox) => {
    // Only asked, not written: who runs the tests may be root.
    const writable = 'find /sys /proc/sys -maxdepth 4 -writable 2>/dev/null | head -n 3';
    expect((await shell(writable, sandbox)).output).toBe('');
    const list =
      'for f in /dev/* /dev/[!p]*/*; do [ ! -L $f ] && { [ -b $f ] || [ -c $f ]; } && echo $f; done';
    const { output } = await shell(list, sandbox);
    const devices = output.split('\n').filter((path) => path !== '');
    expect(devices).toEqual(expect.arrayContaining(['/dev/null', '/dev/zero']));
    expect(devices.filter((path) => !HARMLESS_DEVICES.includes(path))).toEqual([]);
    expect((await shell('echo > /dev/null && head -c 1 /dev/zero | wc -c', sandbox)).output.trim()).toBe('1');
  });

  it('shares /dev/shm where it may write every file', async () => {
    const path = `/dev/shm/exec-server-${process.pid}-${attempts.user.replace(' ', '-')}`;
    try {
      for (const sandbox of [
        { ...sandboxOf([]), permissions: UNRESTRICTED_FILES },
        sandboxOf([special({ kind: 'root' }, 'write')]),
      ]) {
        expect((await shell(`echo shared > ${path}`, sandbox)).exitCode).toBe(0);
        expect(await readFile(path, 'utf8')).toBe('shared\n');
        expect((await shell(`rm ${path}`, sandbox)).exitCode).toBe(0);
      }
    } finally {
      await rm(path, { force: true });
    }
  });

  it('does not get around what is denied below a writable directory', async () => {
    await mkdir(inWorkspace('secret'), { mode: 0o777 });
    await writeFile(inWorkspace('secret/key'), 'the key', { mode: 0o666 });
    await writeFile(inWorkspace('key'), 'the other key', { mode: 0o666 });
    const sandbox = usual(rule(inWorkspace('secret'), 'deny'), rule(inWorkspace('key'), 'deny'));
    const ways = [
      'cat secret/key key',
      'ls secret',
      'mv secret moved && cat moved/key',
      'rm -rf secret; cp -r secret copy',
      'ln key link && cat link',
      'mv key moved && cat moved',
      `cat /proc/self/root${inWorkspace('key')}`,
      'echo broken > key; echo broken > secret/new',
      'chmod 777 secret key && cat secret/key',
    ];
    for (const way of ways) {
      const { exitCode, output } = await shell(way, sandbox);
      expect([way, exitCode === 0, output.includes('the ')]).toEqual([way, false, false]);
    }
    expect(await readFile(inWorkspace('secret/key'), 'utf8')).toBe('the key');
    expect(await readFile(inWorkspace('key'), 'utf8')).toBe('the other key');
  });

  it('does not rename what leads to what is denied, for the next sandbox to find it elsewhere', async () => {
    await mkdir(inWorkspace('way/to'), { recursive: true });
    for (const directory of ['way', 'way/to']) await chmod(inWorkspace(directory), 0o777);
    await writeFile(inWorkspace('way/to/key'), 'the key', { mode: 0o666 });
    const sandbox = usual(rule(inWorkspace('way/to/key'), 'deny'));
    for (const way of ['mv way moved', 'mv way/to way/moved', 'mv way/to moved']) {
      const { exitCode } = await shell(way, sandbox);
      expect([way, exitCode === 0]).toEqual([way, false]);
    }
    expect(
      (await shell('cat way/to/key moved/key moved/to/key way/moved/key', sandbox)).output,
    ).not.toContain('the key');
    expect((await shell('echo fine > way/to/other && cat way/to/other', sandbox)).output).toContain('fine');
  });

  it('does not make what is denied and does not exist, nor what others would believe', async () => {
    const sandbox = usual(rule(inWorkspace('later'), 'deny'), rule(inWorkspace('deep/down/later'), 'deny'));
    for (const way of [
      'mkdir later',
      'echo x > later',
      'mkdir -p deep/down',
      'mkdir .git .codex',
      'mv .git git && mkdir .git',
    ]) {
      const { exitCode } = await shell(way, sandbox);
      expect([way, exitCode === 0]).toEqual([way, false]);
    }
    await expect.poll(() => readdir(inWorkspace('')), { timeout: 10_000 }).toEqual([]);
  });

  it('does not see files that match a denied pattern, as far as they exist when it starts', async () => {
    await writeFile(inWorkspace('a.env'), 'the key', { mode: 0o666 });
    const sandbox = usual(pattern(`${inWorkspace('**/*.env')}`, 'deny'));
    expect((await shell('cat a.env', sandbox)).output).not.toContain('the key');
    // One that appears later is hidden from whatever starts from then on.
    await mkdir(inWorkspace('sub'), { mode: 0o777 });
    await writeFile(inWorkspace('sub/b.env'), 'the key', { mode: 0o666 });
    expect((await shell('cat sub/b.env', sandbox)).output).not.toContain('the key');
  });

  it('cannot prepare a link for the next sandbox to open or to close', async () => {
    await shell(`ln -s '${outside()}' door`);
    for (const access of ['write', 'read', 'deny'] as const) {
      const { error } = await attempts.wire.request('process/start', {
        processId: `link-${access}-${user}`,
        argv: ['/bin/true'],
        cwd: 'file:///',
        env: {},
        tty: false,
        sandbox: usual(rule(inWorkspace('door'), access)),
      });
      expect(error).toMatchObject({
        code: -32602,
        message: expect.stringContaining('a link in a writable directory'),
      });
    }
  });
});
