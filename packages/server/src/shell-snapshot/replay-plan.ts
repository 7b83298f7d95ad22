import type { EnvPolicy } from '@exec-server/protocol';
import type { LaunchPlan } from '../native/launch.js';
import { createMemoryFile } from '../native/memory-file.js';
import { isChildVariable } from '../process/environment-policy.js';
import { quoteWord } from './shell-words.js';
import type { Snapshot } from './snapshot.js';

/** The child's number for the descriptor that the state comes through. */
const STATE_FD = 3;

/** Files that bash would run before anything else; the login has run them. */
const STARTUP_FILE = 'BASH_ENV';

/** What of the request decides about variables. */
export interface VariableRules {
  /** Variables that the request sets, or with `null` removes, itself. */
  readonly env: Readonly<Record<string, string | null>>;
  readonly envPolicy?: EnvPolicy | undefined;
}

/** A plan, and what has to be released once it was carried out. */
export interface ReplayPlan {
  readonly plan: LaunchPlan;
  release(): void;
}

/**
 * Turns the plan of `<shell> -lc <script> …` into one that restores a snapshot and then runs the script. Variables of
 * the request win over those of the snapshot. Throws `OsError` when the state cannot be handed over.
 */
export function planReplay(plan: LaunchPlan, snapshot: Snapshot, rules: VariableRules): ReplayPlan {
  const env = new Map(plan.env);
  applyVariables(env, snapshot, rules);
  const startupFile = env.get(STARTUP_FILE);
  env.delete(STARTUP_FILE);
  // Closed first of all, so that nothing of the script inherits it; the shell reads on through its own descriptor.
  const head = `exec ${STATE_FD}<&-\n`;
  const startup =
    startupFile === undefined ? '' : `export ${STARTUP_FILE}=${toByteText(quoteWord(startupFile))}\n`;
  const file = createMemoryFile(Buffer.from(head + startup + snapshot.state, 'latin1'));
  return {
    plan: {
      ...plan,
      argv: replayArguments(snapshot, plan.argv),
      env,
      extraDescriptors: [...plan.extraDescriptors, { fd: file.fd, as: STATE_FD }],
    },
    release: () => file.close(),
  };
}

function applyVariables(
  env: Map<string, string>,
  snapshot: Snapshot,
  { env: own, envPolicy }: VariableRules,
): void {
  const isSettled = (name: string) =>
    Object.hasOwn(own, name) || (envPolicy !== undefined && Object.hasOwn(envPolicy.set, name));
  for (const [name, value] of snapshot.changed)
    if (!isSettled(name) && isChildVariable(name, envPolicy)) env.set(name, value);
  for (const name of snapshot.removed) if (!isSettled(name)) env.delete(name);
}

/**
 * Every shell starts without its login files. Bash reads its command line by line, so that restored aliases count in the
 * script behind it. The others may read theirs whole, and get the script as an argument to evaluate.
 */
function replayArguments({ shell }: Snapshot, argv: readonly string[]): string[] {
  const [name = '', , script = '', ...args] = argv;
  const restore = `. /dev/fd/${STATE_FD}`;
  const evaluated = [args[0] ?? name, script, ...args.slice(1)];
  switch (shell) {
    case 'bash':
      return [name, '--noprofile', '-lc', `${restore}\n${script}`, ...args];
    case 'zsh':
      return [name, '-flc', `${restore};\\builtin eval "\\builtin shift;$1"`, ...evaluated];
    case 'sh':
      // A file that is not there would end the shell.
      return [
        name,
        '-c',
        `if [ -r /dev/fd/${STATE_FD} ];then ${restore};fi;eval "\\command shift;$1"`,
        ...evaluated,
      ];
  }
}

function toByteText(text: string): string {
  return Buffer.from(text).toString('latin1');
}
