import { Argument } from 'commander';
import { addExample, type CommandContext } from './command-context.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** The command that runs when none is named. */
const DEFAULT_COMMAND = 'serve';

/** Adds `completion`: prints what teaches a shell to complete this command line. */
export function addCompletionCommand({ program, io }: CommandContext): void {
  const command = program
    .command('completion')
    .description('print the script that lets a shell complete commands and options')
    .usage('<SHELL>')
    .addArgument(new Argument('<shell>', SHELLS.join(', ')).choices(SHELLS))
    .action(async (shell: Shell) => {
      const [{ describeCommands }, generate] = await Promise.all([
        import('../completion/describe-commands.js'),
        loadGenerator(shell),
      ]);
      io.stdout.write(generate(describeCommands(program, DEFAULT_COMMAND)));
    });
  addExample(command, 'source <(exec-server completion bash)');
}

async function loadGenerator(shell: Shell) {
  switch (shell) {
    case 'bash':
      return (await import('../completion/bash.js')).generateBashCompletion;
    case 'zsh':
      return (await import('../completion/zsh.js')).generateZshCompletion;
    case 'fish':
      return (await import('../completion/fish.js')).generateFishCompletion;
  }
}
