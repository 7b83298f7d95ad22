import type { SnapshotShell } from './snapshot-request.js';

/** Parts of a capture, in the order in which the script prints them. */
export const CAPTURE_PARTS = [
  'options',
  'functions',
  'attributes',
  'aliases',
  'umask',
  'environment',
] as const;
export type CapturePart = (typeof CAPTURE_PARTS)[number];

/**
 * The commands that print each part. They run after the login, in whatever state it left the shell: nothing of the
 * user's may stand in for a builtin, no variable is used, and no command fails.
 */
const COMMANDS: Readonly<Record<SnapshotShell, Readonly<Record<CapturePart, string>>>> = {
  bash: {
    options: '\\builtin shopt -p; \\builtin set +o',
    functions: '\\builtin declare -f',
    attributes: '\\builtin declare -F',
    aliases: '\\builtin alias -p',
    umask: '\\builtin umask',
    environment: '/usr/bin/env -0',
  },
  zsh: {
    options: '\\builtin setopt',
    functions: '\\builtin functions',
    // Where functions are found that are loaded at their first call; it is not exported.
    attributes: '() { \\builtin emulate -L zsh; \\builtin typeset -p fpath }',
    aliases: '\\builtin alias -L',
    umask: '\\builtin umask',
    environment: '/usr/bin/env -0',
  },
  sh: {
    options: '\\command set +o',
    // Where there is no such builtin, as in dash, functions cannot be listed.
    functions: '\\command typeset -f 2>/dev/null',
    attributes: ':',
    aliases: '\\command alias',
    umask: '\\command umask',
    environment: '/usr/bin/env -0',
  },
};

/**
 * A script that prints the state of the shell. `nonce`, which nobody can guess, sets the parts apart from each other and
 * from what the login printed.
 */
export function captureScript(shell: SnapshotShell, nonce: string): string {
  const print = shell === 'sh' ? '\\command printf' : '\\builtin printf';
  const mark = `${print} '\\0%s\\0' ${nonce}`;
  const lines = CAPTURE_PARTS.flatMap((part) => [mark, `${COMMANDS[shell][part]} || :`]);
  return [...lines, mark].join('\n');
}
