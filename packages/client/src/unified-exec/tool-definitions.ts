/** A tool as the APIs of models take it. */
export interface ToolDefinition {
  readonly name: 'exec_command' | 'write_stdin';
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly parameters: {
    readonly type: 'object';
    readonly properties: Readonly<
      Record<string, { readonly type: 'string' | 'number' | 'boolean'; readonly description: string }>
    >;
    readonly required: readonly string[];
    readonly additionalProperties: false;
  };
}

const MAX_OUTPUT_TOKENS = {
  type: 'number',
  description:
    'How much of the output to return, in tokens; its middle is left out beyond that. Default 10000.',
} as const;

/** The two tools for a model; `callTool` takes what the model answers. */
export const UNIFIED_EXEC_TOOLS: readonly ToolDefinition[] = [
  {
    name: 'exec_command',
    description:
      'Runs a shell command. Returns its output and exit code, or a session id when it is still running at the end of the wait.',
    parameters: {
      type: 'object',
      properties: {
        cmd: { type: 'string', description: 'The command, as text for the shell.' },
        workdir: {
          type: 'string',
          description: 'Directory to run it in, absolute or relative to the default one.',
        },
        shell: {
          type: 'string',
          description: "Path or name of the shell: bash, zsh, sh, pwsh or cmd. Default is the user's.",
        },
        login: { type: 'boolean', description: 'Whether it is a login shell. Default true where allowed.' },
        tty: {
          type: 'boolean',
          description:
            'Whether it runs on a terminal, which programs that ask for input need. Default false.',
        },
        yield_time_ms: {
          type: 'number',
          description: 'How long to wait for its end, in milliseconds, from 250 to 30000. Default 10000.',
        },
        max_output_tokens: MAX_OUTPUT_TOKENS,
      },
      required: ['cmd'],
      additionalProperties: false,
    },
  },
  {
    name: 'write_stdin',
    description: 'Types into a command that is still running, or waits for it, and returns its new output.',
    parameters: {
      type: 'object',
      properties: {
        session_id: { type: 'number', description: 'Session id that exec_command returned.' },
        chars: {
          type: 'string',
          description:
            'What to type; leave it out to wait only. \\u0003 interrupts; anything else needs a command with tty.',
        },
        yield_time_ms: {
          type: 'number',
          description:
            'How long to wait, in milliseconds: 250 to 30000 after typing, at least 5000 otherwise. Default 250.',
        },
        max_output_tokens: MAX_OUTPUT_TOKENS,
      },
      required: ['session_id'],
      additionalProperties: false,
    },
  },
];
