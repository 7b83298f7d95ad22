import type { Capture } from './parse-capture.js';
import { splitCommandLines } from './shell-words.js';
import type { SnapshotShell } from './snapshot-request.js';

/** Options of bash that are facts about a shell, that nobody can set, or that only matter to people at a terminal. */
const BASH_FIXED = new Set(
  'login_shell restricted_shell privileged history monitor noexec onecmd emacs vi interactive-comments'.split(
    ' ',
  ),
);
/** The same of zsh. `rcs` is handled apart, because a replay starts without it. */
const ZSH_FIXED = new Set(
  'interactive login monitor privileged rcs restricted shinstdin singlecommand zle exec'.split(' '),
);
/** Options that every POSIX shell knows; in others, an unknown one would end the shell. */
const POSIX_OPTIONS = new Set(
  'allexport errexit ignoreeof noclobber noglob notify nounset pipefail verbose xtrace'.split(' '),
);

/**
 * Commands that give a fresh shell the captured state. Functions come before aliases, which would change how functions
 * are read, and options that may hinder the rest come last. One character per byte.
 */
export function restoreScript(shell: SnapshotShell, { parts }: Capture): string {
  const umask = /^[0-7]+$/.test(parts.umask.trim()) ? `umask ${parts.umask.trim()}` : '';
  switch (shell) {
    case 'bash':
      return joinLines(restoreBash(parts, umask));
    case 'zsh':
      return joinLines([
        'setopt rcs',
        parts.attributes,
        parts.functions,
        parts.aliases,
        umask,
        restoreZsh(parts),
      ]);
    case 'sh':
      return joinLines([
        parts.functions,
        ...posixAliases(parts.aliases),
        umask,
        ...posixOptions(parts.options),
      ]);
  }
}

function restoreBash(parts: Capture['parts'], umask: string): string[] {
  const lines = parts.options.split('\n').filter((line) => !BASH_FIXED.has(line.split(' ').at(-1)!));
  const isExpansion = (line: string) => line.endsWith(' expand_aliases');
  // Some decide how functions are read, so that they come first; that aliases count comes very last.
  const early = lines.filter((line) => line.startsWith('shopt ') && !isExpansion(line));
  const late = lines.filter((line) => line.startsWith('set ') || isExpansion(line));
  const attributes = parts.attributes.split('\n').filter((line) => /^declare -f[a-z]+ /.test(line));
  return [...early, parts.functions, ...attributes, parts.aliases, umask, ...late.reverse()];
}

function restoreZsh({ options }: Capture['parts']): string {
  const names = options.split('\n').filter((name) => /^[a-z_]+$/.test(name));
  const changed = names.filter((name) => !ZSH_FIXED.has(name.replace(/^no/, '')));
  return changed.length === 0 ? '' : `setopt ${changed.join(' ')}`;
}

/** The words that a POSIX shell prints are arguments for `alias`; bash prints whole commands. */
function posixAliases(aliases: string): string[] {
  return splitCommandLines(aliases).map((line) => (line.startsWith('alias ') ? line : `alias ${line}`));
}

function posixOptions(options: string): string[] {
  return options.split('\n').filter((line) => {
    const name = /^set -o (\S+)$/.exec(line)?.[1];
    return name !== undefined && POSIX_OPTIONS.has(name);
  });
}

function joinLines(lines: readonly string[]): string {
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => (line.endsWith('\n') ? line : `${line}\n`))
    .join('');
}
