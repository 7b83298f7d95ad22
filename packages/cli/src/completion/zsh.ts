import type { CommandSpec, Completion, OptionSpec, ProgramSpec } from './describe-commands.js';

/** A script for zsh that can be sourced, or kept as a file of `fpath`. */
export function generateZshCompletion({ name, options, commands }: ProgramSpec): string {
  const functionName = `_${name.replaceAll('-', '_')}`;
  const list = commands.map((command) => quote(`${command.name}:${command.description}`));
  return `#compdef ${name}
# Completion of ${name} for zsh. Load it with: source <(${name} completion zsh)
${functionName}() {
  local curcontext="$curcontext" state line
  typeset -A opt_args
  local -a commands=(
${list.map((entry) => `    ${entry}`).join('\n')}
  )
  _arguments -C -S : \\
${argumentLines([...options.map(describe), "'1: :->command'", "'*:: :->rest'"], '    ')} && return
  case $state in
    command) _describe -t commands command commands ;;
    rest)
      case $words[1] in
${commands.map((command) => commandCase(command)).join('\n')}
      esac
      ;;
  esac
}
if [[ $funcstack[1] == ${functionName} ]]; then
  ${functionName} "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef ${functionName} ${name}
fi
`;
}

function commandCase({ name, options, argument }: CommandSpec): string {
  const specs = options.map(describe);
  if (argument === 'command') specs.push("'*::command:_normal'");
  else if (argument !== undefined) specs.push(quote(`*:argument:${action(argument)}`));
  return `        ${name})
          _arguments -C -S : \\
${argumentLines(specs, '            ')}
          ;;`;
}

function argumentLines(specs: readonly string[], indent: string): string {
  return specs.map((spec) => `${indent}${spec}`).join(' \\\n');
}

/** `'(-h --help)'{-h,--help}'[print help]'`: any of the names once, or often where it has a value. */
function describe({ flags, description, value }: OptionSpec): string {
  const repeatable = value === undefined ? '' : '*';
  const exclusive = value === undefined && flags.length > 1 ? `(${flags.join(' ')})` : '';
  const text = `[${description.replace(/[\\[\]]/g, '\\$&')}]`;
  const argument = value === undefined ? '' : `:${escapeColons(value.name)}:${action(value.completion)}`;
  const names = flags.map(
    (flag) => `${repeatable}${flag}${value !== undefined && flag.startsWith('--') ? '=' : ''}`,
  );
  const [only = ''] = names;
  if (names.length === 1) return quote(`${only}${text}${argument}`);
  return `${exclusive === '' ? '' : quote(exclusive)}{${names.map(quote).join(',')}}${quote(`${text}${argument}`)}`;
}

function action(completion: Completion): string {
  if (completion === 'path') return '_files';
  if (completion === 'command') return '_command_names';
  // One space: nothing to suggest, and nothing to complain about.
  return completion === 'text' ? ' ' : `(${completion.join(' ')})`;
}

function escapeColons(text: string): string {
  return text.replaceAll(':', '\\:');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
