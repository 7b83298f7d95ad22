import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  ENTER,
  namespaces,
  PLAN_USER,
  requireSandboxProgram,
  runPlan,
  shell,
} from '../../support/run-plan.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

const { ENOENT, ELOOP, EACCES, ENOTTY, E2BIG, ENOTDIR, EISDIR } = constants.errno;

const READ_ONLY = 'read-only,no-set-user,no-devices';
const NO_DEVICES = 'no-set-user,no-devices';
const PROC = ['proc', '/proc', 'no-set-user,no-devices,no-programs'];

const user = PLAN_USER!;

beforeEach((test) => requireSandboxProgram(test));

/** A directory that the user of the plans can write, too. */
async function makeOpenDirectory(): Promise<string> {
  const directory = await makeTempDirectory();
  await chmod(directory, 0o777);
  return directory;
}

/** Runs a script in a sandbox with the given view. */
const inView = (view: readonly (string | number)[], script: string, as = user) =>
  runPlan([...namespaces(as), ...view, ...PROC, ...ENTER, ...shell(script)], { user: as });

describe('the last step', () => {
  it('becomes the program: its arguments, environment, directory, session and descriptors', async () => {
    const script =
      'echo "$0|$*|$(pwd)"; env; ls /proc/self/fd; cut -d" " -f1,6 /proc/$$/stat; echo three >&3';
    const { output, extra, status, exitCode } = await runPlan([
      'entered',
      'session',
      'chdir',
      '/usr',
      ...shell(script, 'zero', 'a b', '', 'ü'),
    ]);
    const [words, ...lines] = output.trim().split('\n');
    expect(words).toBe('zero|a b  ü|/usr');
    expect(output).not.toContain('LEFT');
    // 0, 1, 2, the program's 3, and that of the listing.
    expect(lines.filter((line) => /^\d$/.test(line))).toEqual(['0', '1', '2', '3', '4']);
    const [pid, session] = lines.at(-1)!.split(' ');
    expect(session).toBe(pid);
    expect([status, extra, exitCode]).toEqual([['entered'], 'three\n', 0]);
  });

  it.each([
    ['a program that is not there', ['exec', '/no/such', 0, 0], ['exec', ENOENT]],
    ['a program that cannot be executed', ['exec', '/etc/passwd', 1, 'x', 0], ['exec', EACCES]],
    ['an argument that is too long', shell('x'.repeat(200_000)), ['exec', E2BIG]],
    ['a directory that is not there', ['chdir', '/no/such'], ['failed', 'chdir', ENOENT, '/no/such']],
    ['a terminal that is none', ['terminal'], ['failed', 'terminal', ENOTTY, '']],
  ])('says why it fails: %s', async (_name, words, complaint) => {
    expect(await runPlan(['entered', ...words])).toMatchObject({
      output: '',
      status: ['entered', ...complaint.map(String)],
      exitCode: 127,
    });
  });

  it('takes ten thousand arguments', async () => {
    const args = Array.from({ length: 10_000 }, (_, index) => `${index}`.repeat(10));
    const { output } = await runPlan(shell('printf %s "$@"', 'sh', ...args));
    expect(output).toBe(args.join(''));
  });

  it('filters system calls', async () => {
    // Instructions: load the number of the call, fail `uname` with EPERM, allow the rest.
    const uname = process.arch === 'x64' ? '3f' : 'a0';
    const filter = `2000000000000000 15000001${uname}000000 0600000001000500 060000000000ff7f`.replaceAll(
      ' ',
      '',
    );
    const { output } = await runPlan(['no-new-privileges', 'seccomp', filter, ...shell('uname')]);
    expect(output).toContain('Operation not permitted');
  });
});

describe.each([
  ['a user without rights', user],
  ['root', 0],
])('a sandbox of %s', (_name, as) => {
  beforeEach((test) => {
    if (as === 0 && process.getuid!() !== 0) test.skip('needs root');
  });

  it('has namespaces of its own, no privileges, and a loopback device', async () => {
    const script =
      'echo $$; id -u; ls -d /proc/[0-9]*; grep -E "^(Cap|NoNewPrivs)" /proc/self/status; cat /proc/net/dev; readlink /proc/self/ns/*';
    const outside = await runPlan(shell('readlink /proc/self/ns/*'), { user: as });
    const { output, status } = await inView(['root', 'host', READ_ONLY], script, as);
    const [pid, uid, ...rest] = output.trim().split('\n');
    expect([pid, uid, status]).toEqual(['2', String(as), ['entered']]);
    expect(rest.filter((line) => line.startsWith('Cap')).map((line) => line.split('\t')[1])).toEqual(
      Array(5).fill('0000000000000000'),
    );
    expect(rest).toContain('NoNewPrivs:\t1');
    expect(rest.filter((line) => /^\s*\w+:\s+\d/.test(line) && !line.startsWith('Cap'))).toHaveLength(2);
    const shared = outside.output.split('\n').filter((line) => line !== '' && rest.includes(line));
    expect(
      shared.map((line) => line.replace(/:.*/, '')).filter((kind) => /user|mnt|pid|ipc|net/.test(kind)),
    ).toEqual([]);
  });

  it('sees what is bound, hidden and linked, and writes where it may', async () => {
    const base = await makeOpenDirectory();
    const at = (name: string) => join(base, name);
    for (const name of ['secret', 'passable/open', 'protected']) await mkdir(at(name), { recursive: true });
    for (const name of ['key', 'passable/open/file', 'protected/file']) await writeFile(at(name), name);
    const view = [
      ['root', 'empty', '755'],
      ...['/usr', '/etc'].map((path) => ['bind', path, path, READ_ONLY]),
      ...['bin', 'lib', 'lib64'].map((name) => ['symlink', `usr/${name}`, `/${name}`]),
      ['bind', base, base, NO_DEVICES],
      ['bind', at('protected'), at('protected'), READ_ONLY],
      ['hide-file', at('key'), 'hide-directory', at('secret')],
      ['tmpfs', at('passable'), '111', 'bind', at('passable/open'), at('passable/open'), READ_ONLY],
      ['directory', '/made', '700', 'directory', '/proc', '555'],
      ['attributes', at('passable'), 'read-only', 'attributes', '/', 'read-only'],
    ].flat();
    const script = [
      `cd '${base}'; umask; ls / ; cat passable/open/file protected/file; echo`,
      'echo new > new && echo wrote; for f in key secret/x passable/x protected/x /x; do (echo broken > $f) 2>/dev/null && echo broken; done',
      'cat key || ls secret || ls passable || chmod 777 key secret passable || echo kept; exit 9',
    ].join('\n');
    const { output, status, exitCode } = await inView(view, `exec 2>&1; ${script}`, as);
    expect([status, exitCode]).toEqual([['entered'], 9]);
    expect(output).toMatch(
      /^0022\nbin\netc\nlib\nlib64\nmade\nproc\ntmp\nusr\npassable\/open\/fileprotected\/file\nwrote\n/,
    );
    expect(output).toMatch(/kept\n$/);
    expect(output).not.toContain('broken\n');
    expect(await readFile(at('new'), 'utf8')).toBe('new\n');
  });

  it('ends as its program does, with the exact code or signal', async () => {
    const view = ['root', 'host', READ_ONLY];
    for (const code of [0, 1, 127, 128, 137, 255])
      expect(await inView(view, `exit ${code}`, as)).toMatchObject({ exitCode: code, signal: null });
    for (const signal of ['SIGTERM', 'SIGKILL', 'SIGABRT', 'SIGSEGV'] as const)
      expect(await inView(view, `kill -${signal.slice(3)} $$`, as)).toMatchObject({ exitCode: null, signal });
  });

  it('lets what the program leaves behind go on, and keeps nobody from seeing the end of its output', async () => {
    const directory = await makeOpenDirectory();
    const fifo = join(directory, 'fifo');
    // It writes only after the program has ended.
    const script = `mkfifo '${fifo}'; (exec >/dev/null 2>&1 3>&-; exec <'${fifo}'; read line; echo "$line" > '${directory}/left') & `;
    await inView(['root', 'host', NO_DEVICES, 'bind', '/dev', '/dev', 'no-set-user'], script, as);
    await writeFile(fifo, 'behind\n');
    await expect.poll(() => readFile(join(directory, 'left'), 'utf8').catch(() => '')).toBe('behind\n');
  });
});

describe('paths of a plan', () => {
  it.each([
    ['a link on the way', 'link/file', ELOOP],
    ['a link at the end', 'file-link', ELOOP],
  ])('are not followed: %s', async (_name, name, errno) => {
    const base = await makeOpenDirectory();
    await mkdir(join(base, 'real'));
    await writeFile(join(base, 'real/file'), '');
    await symlink('real', join(base, 'link'));
    await symlink('real/file', join(base, 'file-link'));
    const path = join(base, name);
    const root = ['root', 'host', NO_DEVICES];
    for (const [step, ...words] of [
      ['bind', path, join(base, 'real/file'), '-'],
      ['bind', join(base, 'real/file'), path, '-'],
      ['hide-file', path],
      ['attributes', path, 'read-only'],
    ]) {
      const { status } = await runPlan([...namespaces(user), ...root, step!, ...words]);
      expect([step, status.slice(0, 3)]).toEqual([step, ['failed', step, String(errno)]]);
    }
  });

  it('are never made in a file system of the host', async () => {
    const base = await makeOpenDirectory();
    const root = ['root', 'host', NO_DEVICES];
    for (const [step, ...words] of [
      ['bind', '/etc/passwd', join(base, 'new'), '-'],
      ['directory', join(base, 'new'), '755'],
      ['symlink', 'x', join(base, 'new')],
      ['hide-file', join(base, 'deep/new')],
      ['tmpfs', join(base, 'deep/new'), '755'],
    ]) {
      const { status } = await runPlan([...namespaces(user), ...root, step!, ...words]);
      expect(status.slice(0, 3)).toEqual(['failed', step, String(ENOENT)]);
    }
  });

  it('are of the kind that they are mounted on', async () => {
    const base = await makeOpenDirectory();
    await writeFile(join(base, 'file'), '');
    const root = ['root', 'host', NO_DEVICES];
    const onFile = await runPlan([...namespaces(user), ...root, 'hide-directory', join(base, 'file')]);
    expect(onFile.status).toEqual(['failed', 'hide-directory', String(ENOTDIR), join(base, 'file')]);
    const onDirectory = await runPlan([...namespaces(user), ...root, 'hide-file', base]);
    expect(onDirectory.status).toEqual(['failed', 'hide-file', String(EISDIR), base]);
  });

  it('may be ten thousand', async () => {
    const base = await makeOpenDirectory();
    const names = Array.from({ length: 10_000 }, (_, index) => join(base, String(index)));
    for (const name of names) await writeFile(name, 'x');
    const view = ['root', 'host', NO_DEVICES, ...names.flatMap((name) => ['hide-file', name])];
    const { output } = await inView(view, `cat '${names[0]}' '${names.at(-1)}' 2>&1 | grep -c denied`);
    expect(output).toBe('2\n');
  });
});
