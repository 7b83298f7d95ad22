import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { requireProgram } from '@exec-server/testing';
import { beforeEach, expect, it } from 'vitest';
import { describeAttempts } from '../support/confined-attempts.js';

describeAttempts({}, ({ inWorkspace, outside, shell }) => {
  beforeEach((test) => {
    requireProgram('git', test);
    rmSync(outside('ran'), { force: true });
    mkdirSync(outside('home'), { recursive: true });
  });

  /** Asks for the status as somebody does who is not confined; `config` is his own. Tells whether it ran the program. */
  function askStatus(directory: string, config = ''): { readonly ran: boolean; readonly says: string } {
    // The files may be another user's, which git looks at before it looks at what they say.
    writeFileSync(outside('home/.gitconfig'), `[safe]\n\tdirectory = *\n${config}`);
    const env = { PATH: process.env.PATH, HOME: outside('home'), GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' };
    const { stderr } = spawnSync('git', ['status'], { cwd: directory, env, encoding: 'utf8' });
    return { ran: existsSync(outside('ran')), says: stderr };
  }

  /** Makes a directory a repository, as it looks inside of `.git`, whose configuration names a program. */
  const plant = (directory: string) =>
    shell(
      [
        `mkdir -p '${directory}/objects' '${directory}/refs' && cd '${directory}'`,
        'echo "ref: refs/heads/main" > HEAD',
        `printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = "touch ${outside('ran')}; false"\\n' > config`,
      ].join(' && '),
    );

  it.each(['.', 'sub'])(
    'a program makes %s a bare repository, and git believes it unless told not to',
    async (name) => {
      expect((await plant(inWorkspace(name))).exitCode).toBe(0);
      const careful = askStatus(inWorkspace(name), '\tbareRepository = explicit\n');
      expect(careful).toEqual({ ran: false, says: expect.stringContaining('cannot use bare repository') });
      // That is why docs/security.md says to set it.
      expect(askStatus(inWorkspace(name)).ran).toBe(true);
    },
  );

  it('a directory that has a repository keeps it', async () => {
    execFileSync('git', ['init', '-q', inWorkspace()]);
    execFileSync('chmod', ['-R', 'a+rwX', inWorkspace('.git')]);
    chmodSync(inWorkspace(), 0o777);
    expect((await plant(inWorkspace())).exitCode).toBe(0);
    expect((await plant(inWorkspace('.git'))).exitCode).not.toBe(0);
    expect(askStatus(inWorkspace())).toEqual({ ran: false, says: '' });
  });

  it('a directory without one has files called HEAD, config and hooks like any other', async () => {
    const script = 'mkdir hooks && touch HEAD config hooks/x && rm -rf * && ls';
    expect(await shell(script)).toMatchObject({ exitCode: 0, output: '' });
  });
});
