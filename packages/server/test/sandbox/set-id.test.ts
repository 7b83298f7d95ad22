import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { nativeToPathUri } from '@exec-server/protocol';
import { requireProgram, skipFor } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { describeAttempts } from '../support/confined-attempts.js';

const EPERM = 1;
const ENOSYS = 38;
const SET_ID_BITS = 0o6000;

/** Perl gives variables to the system, and no literals. */
const NAMES = '$file = "file"; $new = "new"; $here = "."; $moved = "moved";';

/** Words of perl: a call that would make a file `new`, or change `file`, with a mode. */
const CALLS_WITH_MODE: Readonly<Record<string, (mode: string) => string>> = {
  chmod: (mode) => `90, $file, ${mode}`,
  fchmod: (mode) => `91, fileno(F), ${mode}`,
  fchmodat: (mode) => `268, -100, $file, ${mode}`,
  fchmodat2: (mode) => `452, -100, $file, ${mode}, 0`,
  'open(O_CREAT)': (mode) => `2, $new, 0101, ${mode}`,
  'open(O_TMPFILE)': (mode) => `2, $here, 020200001, ${mode}`,
  'openat(O_CREAT)': (mode) => `257, -100, $new, 0101, ${mode}`,
  'openat(O_TMPFILE)': (mode) => `257, -100, $here, 020200001, ${mode}`,
  creat: (mode) => `85, $new, ${mode}`,
  mknod: (mode) => `133, $new, 0100000 | ${mode}, 0`,
  mknodat: (mode) => `259, -100, $new, 0100000 | ${mode}, 0`,
};

/** Runs calls one after the other; answers what each came to, 0 or the number of its error. */
function callAll(calls: readonly string[]): string {
  const attempts = calls.map((call) => `unlink $new; $! = 0; print syscall(${call}) < 0 ? $!+0 : 0, " ";`);
  return `${NAMES} umask 0; open(F, ">", $file); ${attempts.join(' ')}`;
}

const parse = (output: string) => output.trim().split(' ').map(Number);

describeAttempts({}, (attempts) => {
  const { inWorkspace, usual, shell, perl, call } = attempts;

  // What held a mount's place may go between the listing and the look.
  const modeOf = (name: string) => lstatSync(inWorkspace(name), { throwIfNoEntry: false })?.mode ?? 0;
  const listModes = () => readdirSync(inWorkspace()).map(modeOf);

  it('no call makes a program that runs as somebody else', async (test) => {
    if (process.arch !== 'x64') skipFor(test, 'x64');
    const names = Object.keys(CALLS_WITH_MODE);
    const callAllWith = async (mode: string) => {
      const { output } = await perl(callAll(Object.values(CALLS_WITH_MODE).map((make) => make(mode))));
      return [mode, Object.fromEntries(parse(output).map((result, index) => [names[index], result]))];
    };
    const allAnswer = (result: number) => Object.fromEntries(names.map((name) => [name, result]));
    for (const mode of ['04755', '02755', '06755', '07777']) {
      expect(await callAllWith(mode)).toEqual([mode, allAnswer(EPERM)]);
      expect(listModes().filter((found) => (found & SET_ID_BITS) !== 0)).toEqual([]);
    }
    // The same calls are fine without these bits, and with the sticky one.
    for (const mode of ['0755', '01777']) expect(await callAllWith(mode)).toEqual([mode, allAnswer(0)]);
  });

  it('makes no device, nor capabilities of a file, nor calls whose mode cannot be seen', async (test) => {
    if (process.arch !== 'x64') skipFor(test, 'x64');
    const calls = {
      'mknod of a terminal': '133, $new, 020666, 0x0500',
      'mknod of a disk': '133, $new, 060666, 0x0800',
      'mknod of nothing': '133, $new, 020000, 0',
      'mknodat of a terminal': '259, -100, $new, 020666, 0x0500',
      'mknodat of a disk': '259, -100, $new, 060666, 0x0800',
      'renameat2(RENAME_WHITEOUT)': '316, -100, $file, -100, $moved, 4',
      'setxattr of capabilities': '188, $file, $name, $caps, 20, 0',
    };
    const caps = `$name = "security.capability"; $caps = pack("V5", 0x02000001, 0xffffffff, 0, 0xffffffff, 0);`;
    const { output } = await perl(caps + callAll(Object.values(calls)));
    expect(parse(output)).toEqual(Object.keys(calls).map(() => EPERM));
    const openat2 =
      'my $how = pack("Q3", 0101, 04755, 0); my $new = "new"; syscall(437, -100, $new, $how, 24); print $!+0';
    expect((await perl(openat2)).output).toBe(String(ENOSYS));
    // Pipes and sockets with a name are no devices.
    expect((await shell('mkfifo pipe && test -p pipe && echo made')).output).toBe('made\n');
  });

  it('lets ordinary tools work with modes', async (test) => {
    for (const program of ['git', 'tar', 'install']) requireProgram(program, test);
    const script = [
      'set -e',
      'umask 022',
      'echo "#!/bin/sh" > tool',
      'chmod 755 tool && chmod u+x,g-w tool && mkdir sticky && chmod +t sticky',
      'cp -p tool copy && install -m 755 tool installed && install -d -m 700 private',
      'mkdir tree && cp -a tool tree/ && tar -cf tree.tar tree && mkdir out && tar -xpf tree.tar -C out',
      'git init -q repo && cd repo && cp ../tool . && git add tool',
      'git -c user.name=x -c user.email=x@localhost commit -qm first && cd ..',
      'git clone -q repo clone && test -x clone/tool',
      'echo fine',
    ].join('\n');
    expect(await shell(script)).toMatchObject({ exitCode: 0, output: 'fine\n' });
  });

  it('lets directories hand their group down', async (test) => {
    for (const program of ['git', 'tar']) requireProgram(program, test);
    mkdirSync(inWorkspace('shared'));
    chmodSync(inWorkspace('shared'), 0o2777);
    const script = [
      'set -e',
      'umask 022',
      'cd shared',
      'mkdir sub && test -g sub && mkdir -p -m 755 sub/deep || exit 3',
      'touch sub/file && cp -r sub copy && test -g copy',
      'mkdir ../plain && touch ../plain/file && tar -C .. -cf plain.tar plain && tar -xf plain.tar',
      'git init -q repo && git clone -q repo clone 2>/dev/null',
      'echo fine',
    ].join('\n');
    expect(await shell(script)).toMatchObject({ exitCode: 0, output: 'fine\n' });
  });

  it('says so to fs/setMode, and sets other bits', async () => {
    writeFileSync(inWorkspace('file'), 'mine', { mode: 0o666 });
    await shell('echo mine > own');
    for (const mode of [0o4755, 0o2755, 0o6755]) {
      const { error } = await call('fs/setMode', inWorkspace('own'), usual(), { mode });
      expect(error).toMatchObject({ code: -32600, message: expect.stringContaining('set-user-ID') });
    }
    for (const mode of [0o755, 0o1755]) {
      expect((await call('fs/setMode', inWorkspace('own'), usual(), { mode })).error).toBeUndefined();
      expect(lstatSync(inWorkspace('own')).mode & 0o7777).toBe(mode);
    }
  });

  it('copies and replaces files without these bits', async () => {
    writeFileSync(inWorkspace('program'), 'before');
    chmodSync(inWorkspace('program'), 0o6777);
    const copyTo = async (name: string) => {
      const answer = await attempts.wire.request('fs/copy', {
        sourcePath: nativeToPathUri(inWorkspace('program')),
        destinationPath: nativeToPathUri(inWorkspace(name)),
        recursive: false,
        sandbox: usual(),
      });
      return answer.error?.code;
    };
    expect(await copyTo('copy')).toBeUndefined();
    // Nobody gives a mode to a file that is somebody else's.
    writeFileSync(inWorkspace('theirs'), '');
    chmodSync(inWorkspace('theirs'), 0o666);
    expect(await copyTo('theirs')).toBe(attempts.user === 'nobody' ? -32600 : undefined);
    expect(lstatSync(inWorkspace('copy')).mode & 0o7777).toBe(0o777);
    const dataBase64 = Buffer.from('after').toString('base64');
    const params = { dataBase64, atomic: true };
    expect((await call('fs/writeFile', inWorkspace('program'), usual(), params)).error).toBeUndefined();
    expect(readFileSync(inWorkspace('program'), 'utf8')).toBe('after');
    expect(lstatSync(inWorkspace('program')).mode & 0o7777).toBe(0o777);
  });
});
