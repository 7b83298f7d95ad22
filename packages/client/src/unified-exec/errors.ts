import { type ErrorName, ExecServerError } from '../errors.js';

/** A call that cannot be carried out, in the words that models know: its message is what the model gets to read. */
export class UnifiedExecError extends ExecServerError {
  override readonly name = 'UnifiedExecError';

  private constructor(code: ErrorName, message: string, cause?: unknown) {
    super(code, message, { cause });
  }

  static unknownSession(sessionId: number): UnifiedExecError {
    return new UnifiedExecError('process_unknown', `write_stdin failed: Unknown process id ${sessionId}`);
  }

  static stdinClosed(): UnifiedExecError {
    const text = 'stdin is closed for this session; rerun exec_command with tty=true to keep stdin open';
    return new UnifiedExecError('usage', `write_stdin failed: ${text}`);
  }

  static loginDisabled(): UnifiedExecError {
    return new UnifiedExecError(
      'usage',
      'login shell is disabled by config; omit `login` or set it to false.',
    );
  }

  static unknownShell(shell: string): UnifiedExecError {
    const text = `unknown shell ${JSON.stringify(shell)}; use bash, zsh, sh, pwsh or cmd`;
    return new UnifiedExecError('usage', `exec_command failed: ${text}`);
  }

  static badArguments(problem: string): UnifiedExecError {
    return new UnifiedExecError('usage', `failed to parse function arguments: ${problem}`);
  }

  static notStarted(reason: string, cause: ExecServerError): UnifiedExecError {
    const message = `Rejected(${JSON.stringify(reason)})`;
    const text = `exec_command failed: CreateProcess { message: ${JSON.stringify(message)} }`;
    return new UnifiedExecError(cause.code, text, cause);
  }
}

/** Why a command could not be started, as its `end` event tells it. */
export function startFailure(cause: ExecServerError): string {
  return `Failed to create unified exec process: ${cause.message}`;
}
