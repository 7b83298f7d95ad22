import type { ParamsOf, ResultOf } from '@exec-server/protocol';
import { checkOptions } from '../check-options.js';
import { ExecServerError, RejectedError } from '../errors.js';
import { createRandomId } from '../random-id.js';
import { requireCapability } from '../require-capability.js';
import type { SessionClient } from '../session-client.js';
import { requireOneOf, requireWholeNumber, usageError } from '../usage.js';
import { attachProcess } from './attach.js';
import { ProcessHandle, type ProcessHandleOptions } from './process-handle.js';
import type { ProcessInput } from './process-input.js';
import { ProcessRecord, type RecordLimits } from './process-record.js';
import { PtyHandle } from './pty-handle.js';
import {
  type CommonOptions,
  type OutputOptions,
  PTY_OPTION_NAMES,
  type PtyOptions,
  SPAWN_OPTION_NAMES,
  type SpawnOptions,
} from './spawn-options.js';
import { type StdioChoice, toStartParams } from './start-params.js';

/** What is kept of the beginning and of the end of each stream where the caller does not say, in bytes each. */
const DEFAULT_KEPT_BYTES = 1024 * 1024;

const STDIN_KINDS = ['pipe', 'none'] as const;

/** Starts a process on pipes. */
export async function spawnProcess(
  client: SessionClient,
  argv: readonly string[],
  options: SpawnOptions = {},
): Promise<ProcessHandle> {
  checkOptions('spawn', options, SPAWN_OPTION_NAMES);
  const { stdin = 'none', input } = options;
  requireOneOf('stdin', stdin, STDIN_KINDS);
  if (input !== undefined && stdin === 'pipe')
    throw usageError("`input` closes stdin behind it; write to the handle's `stdin` instead");
  if (input !== undefined) await requireCapability(client, 'processCloseStdin');
  const pipeStdin = stdin === 'pipe' || input !== undefined;
  return start(client, argv, options, { tty: false, pipeStdin }, ProcessHandle);
}

/** Starts a process on a terminal. */
export async function spawnPty(
  client: SessionClient,
  argv: readonly string[],
  options: PtyOptions = {},
): Promise<PtyHandle> {
  checkOptions('pty', options, PTY_OPTION_NAMES);
  const { rows, cols } = options;
  requireWholeNumber('rows', rows, 1);
  requireWholeNumber('cols', cols, 1);
  const size =
    rows === undefined && cols === undefined ? {} : { size: { rows: rows ?? 24, cols: cols ?? 80 } };
  return start(client, argv, options, { tty: true, pipeStdin: true, ...size }, PtyHandle);
}

async function start<Handle extends ProcessHandle>(
  client: SessionClient,
  argv: readonly string[],
  options: CommonOptions & { readonly signal?: AbortSignal; readonly input?: ProcessInput },
  stdio: StdioChoice,
  HandleClass: new (options: ProcessHandleOptions) => Handle,
): Promise<Handle> {
  const { signal, id: processId = createRandomId(), graceMs, output = {} } = options;
  signal?.throwIfAborted();
  const params = await toStartParams(client, processId, argv, options, stdio);
  const canCloseStdin = await client.supports('processCloseStdin');
  signal?.throwIfAborted();
  const session = client.registerProcess(processId);
  const record = new ProcessRecord(keptLimits(output));
  session.listen((event) => record.take(event));
  try {
    const started = await client.call('process/start', params, signal === undefined ? {} : { signal });
    if (started.existing === true) {
      session.unregister();
      return (await attachExisting(client, started, options)) as Handle;
    }
    const { pid } = started;
    return new HandleClass({
      client,
      session,
      record,
      target: { processId },
      pid,
      program: argv[0] ?? '',
      stdin: { kind: stdinKind(stdio), canClose: canCloseStdin },
      graceMs,
      spills: output.spill === true,
      spillsFromStart: output.spill === true,
      input: options.input,
    });
  } catch (error) {
    session.unregister();
    if (mayHaveStarted(error, signal)) endUnwanted(client, processId);
    throw withSize(error, params);
  }
}

/** The process that has the start key, which may have said something already. */
function attachExisting(
  client: SessionClient,
  { processId, sessionId = client.sessionId }: ResultOf<'process/start'>,
  { output: { headBytes, tailBytes } = {}, signal }: CommonOptions & { readonly signal?: AbortSignal },
): Promise<ProcessHandle> {
  return attachProcess(client, processId, {
    ...(sessionId !== undefined && { sessionId }),
    output: { ...(headBytes !== undefined && { headBytes }), ...(tailBytes !== undefined && { tailBytes }) },
    ...(signal !== undefined && { signal }),
  });
}

/** The limits on what a handle collects. */
export function keptLimits({
  headBytes = DEFAULT_KEPT_BYTES,
  tailBytes = DEFAULT_KEPT_BYTES,
  truncate = 'error',
}: OutputOptions): RecordLimits {
  return { headBytes, tailBytes, truncate };
}

function stdinKind({ tty, pipeStdin }: StdioChoice): 'tty' | 'pipe' | 'none' {
  if (tty) return 'tty';
  return pipeStdin ? 'pipe' : 'none';
}

/** Says how much was too much, and how else it gets there: the words of the system tell neither. */
function withSize(error: unknown, { argv, env }: ParamsOf<'process/start'>): unknown {
  if (!(error instanceof RejectedError) || error.code !== 'argument_too_long') return error;
  const encoder = new TextEncoder();
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const bytes = [...argv, ...variables].reduce((sum, text) => sum + encoder.encode(text).length + 1, 0);
  const message = `${error.message}: argv and env have ${bytes} bytes; give large data as \`input\``;
  const { rpcCode, code, data, cause } = error;
  return new RejectedError(message, rpcCode, { code, data, cause });
}

function mayHaveStarted(error: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted === true) return true;
  return (
    error instanceof ExecServerError && (error.code === 'connection_lost' || error.code === 'request_timeout')
  );
}

/** Nobody holds a handle on it. Where it was not started, or the connection is gone for good, there is nothing to end. */
function endUnwanted(client: SessionClient, processId: string): void {
  client.call('process/terminate', { processId }, { resend: true }).catch(() => {});
}
