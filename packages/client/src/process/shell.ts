import type { SessionClient } from '../session-client.js';
import { usageError } from '../usage.js';
import type { ProcessResult } from './process-result.js';
import { type ShellValue, toScript } from './shell-quote.js';
import type { RunOptions } from './spawn-options.js';

/** A script as a tagged template. */
export type ShellTag = (
  strings: TemplateStringsArray,
  ...values: readonly ShellValue[]
) => Promise<ProcessResult>;

/** Runs a script in the shell of the server's user, with options where they are given first. */
export interface Shell extends ShellTag {
  (options: RunOptions): ShellTag;
}

/**
 * Runs a script in the shell of the server's user: sh('npm test | tail -5', { cwd: '/srv' }), or with values that become
 * words of their own, sh`grep -rn ${pattern} src`.
 */
export interface Sh {
  (script: string, options?: RunOptions): Promise<ProcessResult>;
  (strings: TemplateStringsArray, ...values: readonly ShellValue[]): Promise<ProcessResult>;
}

/** Shells that read quotes the way POSIX says. */
export const POSIX_SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'mksh', 'ash']);

/** The shell that every POSIX system has. */
export const FALLBACK_SHELL = '/bin/sh';

/** Runs a program as a machine does, with its defaults. */
export type RunProgram = (argv: readonly string[], options: RunOptions) => Promise<ProcessResult>;

export function createSh(client: SessionClient, run: RunProgram): Sh {
  return async (first: string | TemplateStringsArray, ...rest: readonly unknown[]) => {
    const isText = typeof first === 'string';
    if (!isText && !isTemplate(first)) throw usageError('`sh` takes a command line, or is a template tag');
    const script = isText ? first : toScript(first, rest as readonly ShellValue[]);
    const options = isText ? ((rest[0] ?? {}) as RunOptions) : {};
    return run([await findShell(client), '-c', script], options);
  };
}

export function createShell(client: SessionClient, run: RunProgram): Shell {
  const tagWith =
    (options: RunOptions): ShellTag =>
    async (strings, ...values) => {
      const script = toScript(strings, values);
      return run([await findShell(client), '-c', script], options);
    };
  function shell(options: RunOptions): ShellTag;
  function shell(strings: TemplateStringsArray, ...values: readonly ShellValue[]): Promise<ProcessResult>;
  function shell(
    first: RunOptions | TemplateStringsArray,
    ...values: readonly ShellValue[]
  ): ShellTag | Promise<ProcessResult> {
    if (isTemplate(first)) return tagWith({})(first, ...values);
    if (typeof first !== 'object' || first === null || Array.isArray(first))
      throw usageError('`shell` is a template tag, or takes options before one; for a command line use `sh`');
    return tagWith(first);
  }
  return shell;
}

function isTemplate(value: unknown): value is TemplateStringsArray {
  return Array.isArray(value) && 'raw' in value;
}

/** The user's shell if it quotes as scripts here are quoted, else the one that every such system has. */
async function findShell(client: SessionClient): Promise<string> {
  const { shell, platformOs } = await client.environment();
  if (platformOs === 'windows') throw usageError('`shell` needs a host with a POSIX shell; use `run`');
  return POSIX_SHELLS.has(shell.name) ? shell.path : FALLBACK_SHELL;
}
