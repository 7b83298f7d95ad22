import type { CommandSpec, Completion, OptionSpec, ProgramSpec } from './describe-commands.js';

/** A script for bash from 3.2 on, which needs no other to be installed. */
export function generateBashCompletion({ name, options, commands }: ProgramSpec): string {
  const functionName = `_${name.replaceAll('-', '_')}`;
  const names = commands.map((command) => command.name);
  const places: readonly Omit<CommandSpec, 'description'>[] = [
    { name: '', options, argument: names },
    ...commands,
  ];
  return `# Completion of ${name} for bash. Load it with: source <(${name} completion bash)
${functionName}() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command= index
  COMPREPLY=()
  # The shell has cut --name=value at the sign.
  if [[ $word == '=' ]]; then
    word=
  elif [[ $previous == '=' ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    # What comes behind is not for ${name}; without a suggestion the shell completes files.
    [[ \${COMP_WORDS[index]} == -- ]] && return
    if [[ -z $command ]]; then
      case \${COMP_WORDS[index]} in
        ${names.join(' | ')}) command=\${COMP_WORDS[index]} ;;
      esac
    fi
  done
  case "$command $previous" in
${places.flatMap((place) => place.options.flatMap((option) => valueCase(place.name, option))).join('\n')}
  esac
  case "$command \${word:0:1}" in
${places.map((place) => `    '${place.name} -') ${suggest(place.options.flatMap(({ flags }) => flags))} ;;`).join('\n')}
${places.map((place) => `    '${place.name} '*) ${complete(place.argument)} ;;`).join('\n')}
  esac
}
complete -o default -F ${functionName} ${name}
`;
}

function valueCase(command: string, { flags, value }: OptionSpec): string[] {
  if (value === undefined) return [];
  const patterns = flags.map((flag) => `'${command} ${flag}'`).join(' | ');
  return [`    ${patterns}) ${complete(value.completion)}; return ;;`];
}

function complete(completion: Completion | undefined): string {
  if (completion === 'path' || completion === 'command') return ':';
  // Without this the shell completes files where nothing is suggested. Older shells cannot be told.
  if (completion === undefined || completion === 'text') return 'compopt +o default 2>/dev/null';
  return suggest(completion);
}

function suggest(words: readonly string[]): string {
  return `COMPREPLY=($(compgen -W '${words.join(' ')}' -- "$word"))`;
}
