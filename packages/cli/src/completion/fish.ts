import type { Completion, OptionSpec, ProgramSpec } from './describe-commands.js';

/** A script for fish from 3.0 on. */
export function generateFishCompletion({ name, options, commands }: ProgramSpec): string {
  const atStart = '__fish_use_subcommand';
  const lines = [
    `# Completion of ${name} for fish. Load it with: ${name} completion fish | source`,
    `complete -c ${name} -f`,
    ...options.map((option) => completeOption(name, atStart, option)),
  ];
  for (const command of commands) {
    const inside = `__fish_seen_subcommand_from ${command.name}`;
    lines.push(
      `complete -c ${name} -n ${atStart} -a ${command.name} -d ${quote(command.description)}`,
      ...command.options.map((option) => completeOption(name, inside, option)),
    );
    const suggestions = suggest(command.argument ?? 'text');
    if (suggestions !== '') lines.push(`complete -c ${name} -n ${quote(inside)} ${suggestions}`);
  }
  return `${lines.join('\n')}\n`;
}

function completeOption(name: string, condition: string, { flags, description, value }: OptionSpec): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  const required = value === undefined ? '' : ` -r ${suggest(value.completion)}`.trimEnd();
  return `complete -c ${name} -n ${quote(condition)} ${names.join(' ')} -d ${quote(description)}${required}`;
}

function suggest(completion: Completion): string {
  if (completion === 'text') return '';
  if (completion === 'path') return '-F';
  if (completion === 'command') return "-a '(__fish_complete_subcommand)'";
  return `-a ${quote(completion.join(' '))}`;
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
