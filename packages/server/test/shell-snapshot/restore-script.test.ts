import { describe, expect, it } from 'vitest';
import type { Capture } from '../../src/shell-snapshot/parse-capture.js';
import { restoreScript } from '../../src/shell-snapshot/restore-script.js';

const capture = (parts: Partial<Capture['parts']>): Capture => ({
  parts: { options: '', functions: '', attributes: '', aliases: '', umask: '', environment: '', ...parts },
  environment: new Map(),
});

describe('the commands that restore a state', () => {
  it('of bash: what functions are read by, functions, aliases, and what would hinder last', () => {
    const script = restoreScript(
      'bash',
      capture({
        options:
          'shopt -s extglob\nshopt -s expand_aliases\nshopt -s login_shell\nset -o errexit\nset +o history\nset +o posix\n',
        functions: 'f () \n{ \n    :\n}\n',
        attributes: 'declare -f g\ndeclare -fx f\n',
        aliases: "alias l='ls'\n",
        umask: '0077\n',
      }),
    );
    expect(script).toBe(
      "shopt -s extglob\nf () \n{ \n    :\n}\ndeclare -fx f\nalias l='ls'\numask 0077\n" +
        'set +o posix\nset -o errexit\nshopt -s expand_aliases\n',
    );
  });

  it('of zsh leaves out what a shell is', () => {
    const script = restoreScript(
      'zsh',
      capture({
        options: 'extendedglob\nlogin\nnorcs\nnonomatch\n',
        aliases: "alias -g G='| grep'\n",
        umask: '022\n',
      }),
    );
    expect(script).toBe("setopt rcs\nalias -g G='| grep'\numask 022\nsetopt extendedglob nonomatch\n");
  });

  it('of sh makes commands of what it prints, and keeps to what every shell knows', () => {
    const script = restoreScript(
      'sh',
      capture({
        options: 'set +o errexit\nset -o nounset\nset -o interactive\n',
        aliases: "l='ls\n-l'\nalias m='x'\n",
        umask: 'garbage; rm -rf /\n',
      }),
    );
    expect(script).toBe("alias l='ls\n-l'\nalias m='x'\nset -o nounset\n");
  });
});
