import { choice } from '../option-values.js';
import { addExample, type CommandContext } from './command-context.js';
import { addConnectionOptions, type ConnectionFlags } from './connection-options.js';
import { collect, collectPairs, DURATION_HELP, parseDuration } from './flag-values.js';

const ENV = '-e, --env <KEY[=VALUE]>';
const TAG = '--tag <KEY=VALUE>';
const TIMEOUT = '--timeout <DURATION>';
const KEEP_ALIVE = '--keep-alive <DURATION>';
const INHERIT_ENV = '--inherit-env <WHICH>';
const SANDBOX = '--sandbox <POLICY>';
const SANDBOXES = ['read-only', 'workspace-write'] as const;
const NETWORK = '--network <WHICH>';
const NETWORKS = ['off', 'on'] as const;
const INHERITANCES = ['core', 'all', 'none'] as const;

export interface RunFlags extends ConnectionFlags {
  readonly tty?: boolean;
  readonly interactive?: boolean;
  /** False for `--no-stdin`. */
  readonly stdin: boolean;
  readonly detach?: boolean;
  readonly keepAlive?: number;
  readonly cwd?: string;
  readonly env?: readonly string[];
  readonly envFile?: readonly string[];
  readonly sandbox?: (typeof SANDBOXES)[number];
  readonly network?: (typeof NETWORKS)[number];
  readonly inheritEnv?: (typeof INHERITANCES)[number];
  readonly timeout?: number;
  readonly tag?: Readonly<Record<string, string>>;
  readonly id?: string;
}

/** Adds `run`: runs a command over there as if it ran here. */
export function addRunCommand({ program, io, setExitCode }: CommandContext): void {
  const run = program
    .command('run')
    .description(
      'run a command: its output comes here, what is typed or piped in here goes there, and its exit code is the exit code',
    )
    .usage('[OPTIONS] [--] COMMAND [ARGUMENT...]')
    .argument('<command...>', 'program and arguments; no shell is involved')
    // What follows the name of the program is the program's.
    .passThroughOptions()
    .configureHelp({ visibleArguments: () => [] })
    .option('-t, --tty', 'on a terminal, with the size of this one')
    .option('-i, --interactive', 'pass stdin, which is the default; with --detach leave it open for `attach`')
    .option('-n, --no-stdin', 'let the command find an empty stdin')
    .option('-d, --detach', 'print the id and leave the command running; see `logs`, `attach` and `kill`')
    .option(
      KEEP_ALIVE,
      `how long it may outlive this connection (${DURATION_HELP}) [default: 1d with --detach, else not at all]`,
      parseDuration(KEEP_ALIVE),
    )
    .option('-w, --cwd <DIR>', "working directory [default: the server's]")
    .option(ENV, 'set a variable, or pass on the one of that name from here (repeatable)', collect)
    .option(
      '--env-file <FILE>',
      'set the variables of a file with lines KEY=VALUE; -e wins (repeatable)',
      collect,
    )
    .option(
      SANDBOX,
      'let it read everything, and write nothing (read-only) or its directory and temporary files (workspace-write); without network',
      (value: string) => choice(SANDBOXES).fromText(value, SANDBOX),
    )
    .option(
      NETWORK,
      'with --sandbox, whether it may use the network: off or on [default: off]',
      (value: string) => choice(NETWORKS).fromText(value, NETWORK),
    )
    .option(
      INHERIT_ENV,
      "which of the server's variables it gets: core, all or none [default: core]",
      (value: string) => choice(INHERITANCES).fromText(value, INHERIT_ENV),
    )
    .option(TIMEOUT, `end it after so long (${DURATION_HELP})`, parseDuration(TIMEOUT))
    .option(TAG, 'word to find it by (repeatable)', collectPairs(TAG))
    .option('--id <ID>', 'name of the process [default: a random one]')
    .action(async (argv: string[], flags: RunFlags) => {
      const { runProcess } = await import('../client/run-process.js');
      setExitCode(await runProcess(argv, flags, io));
    });
  addConnectionOptions(run);
  run.addHelpText('after', EXIT_CODES);
  addExample(run, 'exec-server run --connect ws://127.0.0.1:7711 -w /srv -e CI=1 -- npm test');
}

const EXIT_CODES = `
Exit codes:
  that of the command; 128+n when signal n ended it
  124  its --timeout has passed
  125  exec-server failed, or how the command ended is not known
  126  the command cannot be run
  127  there is no such command`;
