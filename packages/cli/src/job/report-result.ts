import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { submitReport } from '@exec-server/jobs';
import { CommandError } from '../command-error.js';
import type { CommandIo } from '../command-io.js';
import type { JobReportFlags } from '../commands/job.js';
import { ExitCode } from '../exit-codes.js';
import { UsageError } from '../usage-error.js';
import { explaining } from './find-job.js';

/** Reports the result of the item whose worker this is, and prints the answer. Resolves with the exit code. */
export function report(
  result: string | undefined,
  { file, stop }: JobReportFlags,
  io: CommandIo,
): Promise<number> {
  if (result !== undefined && file !== undefined)
    throw new UsageError("the argument '--file <FILE>' cannot be used with a result");
  return explaining(async () => {
    const words = result ?? (await readResult(file, io));
    const answer = await submitReport({ result: parse(words), ...(stop === true && { stop }) }, io.env);
    io.stdout.write(`${JSON.stringify(answer)}\n`);
    return answer.accepted ? ExitCode.success : ExitCode.failure;
  });
}

async function readResult(file: string | undefined, { stdin }: Pick<CommandIo, 'stdin'>): Promise<string> {
  if (file === undefined) return text(stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandError(`cannot read the result: ${(error as Error).message}`, { cause: error });
  }
}

function parse(words: string): unknown {
  try {
    return JSON.parse(words);
  } catch (error) {
    throw new CommandError(`the result is not JSON: ${(error as Error).message}`, { cause: error });
  }
}
