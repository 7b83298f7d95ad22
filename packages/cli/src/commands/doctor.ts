import { addExample, type CommandContext } from './command-context.js';
import { addConnectionOptions, addJsonOption, type ConnectionFlags } from './connection-options.js';

export interface DoctorFlags extends ConnectionFlags {
  readonly json?: boolean;
}

/** Adds `doctor`: says what a machine offers to a server on it. */
export function addDoctorCommand({ program, io, setExitCode }: CommandContext): void {
  const command = program
    .command('doctor')
    .description(
      'try processes, terminals, the sandbox and limits, and say what to do about what does not work',
    )
    .usage('[OPTIONS]')
    .action(async (flags: DoctorFlags) => {
      const { diagnose } = await import('../doctor/diagnose.js');
      setExitCode(await diagnose(flags, io));
    });
  addJsonOption(addConnectionOptions(command));
  addExample(command, 'exec-server doctor --connect ws://127.0.0.1:7711');
}
