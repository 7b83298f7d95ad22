import type { ResultCheck } from '../results/schema.js';
import { parseResult } from '../results/schema.js';
import type { JobItem } from '../store/job-rows.js';
import type { JobSettings } from '../store/job-settings.js';
import { Template } from '../template/template.js';
import { type AttemptEnd, NO_REPORT } from './attempt-end.js';

/** What a worker that ended with code 0 left. */
export interface WorkerOutput {
  /** Text of the result file. */
  readonly resultFile: string | undefined;
  /** Stdout, where that may be one JSON object. */
  readonly stdout: string | undefined;
}

/** What is run for an item, and how its end is judged. */
export interface WorkerKind {
  argv(item: JobItem, place: { readonly root: string }): readonly string[];
  /** What the worker reads from stdin. */
  input(item: JobItem): string;
  /** Listens to what it writes to stdout. */
  watch?(): StdoutWatch;
}

/** Learns from a worker's stdout what became of it. */
export interface StdoutWatch {
  take(data: Uint8Array): void;
  /** Output is missing. */
  gap(): void;
  /** What it came to; `failure` is why its end is no success, where it is none. */
  judge(failure: string | undefined): AttemptEnd;
}

/** A worker that is any command. */
export function createCommandKind({
  command,
  columns,
}: Pick<JobSettings, 'command' | 'columns'>): WorkerKind {
  const names = new Set(columns);
  const templates = command.map((argument) => new Template(argument, names));
  return {
    argv: ({ row }) => templates.map((template) => template.fill(row)),
    input: ({ row }) => `${JSON.stringify(row)}\n`,
  };
}

/** Finds the result that a worker left: in its file, or else on stdout. */
export function judgeOutput(
  { resultFile, stdout }: WorkerOutput,
  check: ResultCheck,
  demandsResult: boolean,
): AttemptEnd {
  if (resultFile !== undefined && resultFile.trim() !== '') {
    const parsed = parseResult(resultFile, check);
    return 'result' in parsed
      ? { status: 'completed', result: parsed.result }
      : { status: 'failed', error: parsed.refusal };
  }
  const parsed = stdout === undefined ? undefined : parseResult(stdout, check);
  if (parsed !== undefined && 'result' in parsed) return { status: 'completed', result: parsed.result };
  if (!demandsResult) return { status: 'completed' };
  const refusal = parsed === undefined ? '' : `: ${parsed.refusal}`;
  return { status: 'failed', error: `${NO_REPORT}${refusal}` };
}
