import { addExample, type CommandContext } from './command-context.js';
import { addConnectionOptions, type ConnectionFlags } from './connection-options.js';
import { DURATION_HELP, parseDuration } from './flag-values.js';
import { addSessionOption } from './session-option.js';

const GRACE = '--grace <DURATION>';

export interface KillFlags extends ConnectionFlags {
  readonly signal?: string;
  readonly grace?: number;
  readonly session?: string;
}

/** Adds `kill`: ends processes, or only sends them a signal. */
export function addKillCommand({ program, io, setExitCode }: CommandContext): void {
  const kill = program
    .command('kill')
    .description(
      'end processes with everything they started: SIGTERM, then SIGKILL for what is left; returns when they are gone',
    )
    .usage('[OPTIONS] ID...')
    .argument('<id...>', 'ids of the processes, or how they begin')
    .option('-s, --signal <NAME>', 'only send this signal, by name or number')
    .option(GRACE, `time before SIGKILL (${DURATION_HELP}) [default: 5s]`, parseDuration(GRACE))
    .action(async (ids: string[], flags: KillFlags) => {
      const { killProcesses } = await import('../client/kill-processes.js');
      setExitCode(await killProcesses(ids, flags, io));
    });
  addConnectionOptions(addSessionOption(kill));
  addExample(kill, 'exec-server kill -s HUP web-1 --connect ws://127.0.0.1:7711');
}
