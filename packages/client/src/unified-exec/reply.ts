import type { CollectedOutput } from '../process/collected-output.js';
import type { Outcome } from '../process/outcome.js';
import { createRandomId } from '../random-id.js';
import { BYTES_PER_TOKEN, REPLY_ALLOWANCE } from './limits.js';
import { omissionLine, retainedText } from './retained-output.js';
import { countLines, countTokens, type OutputBudget, truncateMiddle } from './truncate-output.js';

const CHUNK_ID_DIGITS = 6;

const MS_PER_SECOND = 1000;

/** What a call came to. */
export interface UnifiedExecReply {
  /** Six hexadecimal digits that name this piece of output. */
  readonly chunkId: string;
  /** How long the call waited, in milliseconds, from when the command was running or the input was taken. */
  readonly wallTimeMs: number;
  /** By which `writeStdin` names the command; absent once it has ended. */
  readonly sessionId: number | undefined;
  /** How the command ended; absent while it runs. */
  readonly outcome: Outcome | undefined;
  /** Its exit code, 128+n for signal n; absent while it runs and where it is not known. */
  readonly exitCode: number | undefined;
  /** Tokens of everything it wrote since the call before, also of what is not shown. */
  readonly originalTokenCount: number;
  /** What it wrote since the call before, as much as the limits allow. */
  readonly output: string;
  /** The whole reply in the words that models know. */
  readonly text: string;
}

/** The reply as an object for models that take structured content. */
export interface StructuredReply {
  readonly chunk_id: string;
  readonly wall_time_seconds: number;
  readonly exit_code?: number;
  readonly session_id?: number;
  readonly original_token_count: number;
  readonly output: string;
}

/** What a reply is made from. */
export interface ReplySource {
  readonly collected: CollectedOutput;
  readonly wallTimeMs: number;
  readonly sessionId: number | undefined;
  readonly outcome: Outcome | undefined;
  readonly maxOutputTokens: number;
  /** The model's own limit on output, in bytes. */
  readonly outputLimitBytes: number | undefined;
}

export function createReply(source: ReplySource): UnifiedExecReply {
  const { collected, wallTimeMs, sessionId, outcome, maxOutputTokens, outputLimitBytes } = source;
  const chunkId = createRandomId().slice(0, CHUNK_ID_DIGITS);
  const originalTokenCount = countTokens(collected.totalBytes);
  const header = [
    `Chunk ID: ${chunkId}`,
    `Wall time: ${(wallTimeMs / MS_PER_SECOND).toFixed(4)} seconds`,
    ...(outcome === undefined ? [] : [describeEnd(outcome)]),
    ...(sessionId === undefined ? [] : [`Process running with session ID ${sessionId}`]),
    `Original token count: ${originalTokenCount}`,
    'Output:\n',
  ].join('\n');
  const fitted = fitOutput(header, collected, toBudget(maxOutputTokens, outputLimitBytes), outputLimitBytes);
  return {
    chunkId,
    wallTimeMs,
    sessionId,
    outcome,
    exitCode: outcome === undefined || outcome.kind === 'unknown' ? undefined : outcome.exitCode,
    originalTokenCount,
    ...fitted,
  };
}

export function toStructuredReply(reply: UnifiedExecReply): StructuredReply {
  return {
    chunk_id: reply.chunkId,
    wall_time_seconds: reply.wallTimeMs / MS_PER_SECOND,
    ...(reply.exitCode !== undefined && { exit_code: reply.exitCode }),
    ...(reply.sessionId !== undefined && { session_id: reply.sessionId }),
    original_token_count: reply.originalTokenCount,
    output: reply.output,
  };
}

function describeEnd(outcome: Outcome): string {
  return outcome.kind === 'unknown'
    ? `Process has an unknown outcome: ${outcome.reason}`
    : `Process exited with code ${outcome.exitCode}`;
}

/** The smaller of what the call asks for and what the model takes. */
function toBudget(maxOutputTokens: number, outputLimitBytes: number | undefined): OutputBudget {
  const asked = maxOutputTokens * BYTES_PER_TOKEN;
  return outputLimitBytes === undefined || asked < outputLimitBytes
    ? { bytes: asked, unit: 'tokens' }
    : { bytes: outputLimitBytes, unit: 'chars' };
}

/** Shows less of the output until the whole reply is within the model's allowance; a header beyond it is cut as well. */
function fitOutput(
  header: string,
  collected: CollectedOutput,
  { bytes: fullBudget, unit }: OutputBudget,
  outputLimitBytes: number | undefined,
): Pick<UnifiedExecReply, 'output' | 'text'> {
  const shown = retainedText(collected);
  const allowance =
    outputLimitBytes === undefined
      ? Number.POSITIVE_INFINITY
      : Math.floor(outputLimitBytes * REPLY_ALLOWANCE);
  const step = unit === 'tokens' ? BYTES_PER_TOKEN : 1;
  for (let bytes = fullBudget; ; ) {
    const output = showWithin(shown, collected, { bytes, unit });
    const text = header + output;
    const excess = utf8Length(text) - allowance;
    if (excess <= 0) return { output, text };
    if (bytes === 0) return { output, text: truncateMiddle(text, { bytes: allowance, unit: 'tokens' }) };
    bytes = Math.max(0, bytes - Math.ceil(excess / step) * step);
  }
}

/** The text, or where it is too long its beginning and end behind a warning. */
function showWithin(shown: string, collected: CollectedOutput, budget: OutputBudget): string {
  const length = utf8Length(shown);
  if (length <= budget.bytes) return shown;
  const { droppedBytes, totalBytes } = collected;
  const count = countTokens(droppedBytes > 0 ? totalBytes : length);
  const extent = droppedBytes > 0 ? omissionLine(droppedBytes) : `Total output lines: ${countLines(shown)}`;
  const warning = `Warning: truncated output (original token count: ${count})`;
  return `${warning}\n${extent}\n\n${truncateMiddle(shown, budget)}`;
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}
