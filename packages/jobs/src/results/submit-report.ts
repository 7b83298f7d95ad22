import { randomUUID, timingSafeEqual } from 'node:crypto';
import { link, open, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { JobError } from '../errors.js';
import { createResultCheck, MAX_RESULT_BYTES } from './schema.js';
import { digestOf, digestToken, type Report, reportedFile, VARIABLES, workerFiles } from './work-place.js';

/** A worker's report about its item. */
export interface ReportRequest {
  readonly result: unknown;
  /** Start no more items. @default false */
  readonly stop?: boolean;
  /** @default `EXEC_SERVER_JOB_ID` */
  readonly jobId?: string;
  /** @default `EXEC_SERVER_ITEM_ID` */
  readonly itemId?: string;
}

/** What became of a report. */
export interface ReportAnswer {
  /** False where the item does not run any more, was reported before, or is another worker's. */
  readonly accepted: boolean;
  /** Why a result was refused that may be corrected and reported again. */
  readonly reason?: string;
}

/** Name of the file beside the workers' directories that has the schema of results. */
export const SCHEMA_FILE = 'schema.json';

/**
 * Reports the result of the item whose worker calls this, as its variables tell. It is done by files alone, so that it
 * counts while the runner is down, and works without a network. Rejects with `JobError` outside of a worker.
 */
export async function submitReport(
  request: ReportRequest,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<ReportAnswer> {
  const { result: resultFile, token } = readVariables(env);
  const directory = dirname(resultFile);
  const jobId = request.jobId ?? env[VARIABLES.jobId] ?? '';
  const itemId = request.itemId ?? env[VARIABLES.itemId] ?? '';
  if (!isSameText(digestToken(token, jobId, itemId), digestOf(directory))) return { accepted: false };
  const reason = await findRefusal(request.result, join(dirname(directory), SCHEMA_FILE));
  if (reason !== undefined) return { accepted: false, reason };
  const report: Report = {
    result: request.result,
    stop: request.stop ?? false,
    reportedAt: Date.now(),
  };
  const accepted = await leave(directory, JSON.stringify(report));
  // Where that cannot be written, the report is found at the end of the worker.
  if (accepted) await writeFile(reportedFile(directory), '').catch(() => {});
  return { accepted };
}

function readVariables(env: Readonly<Record<string, string | undefined>>) {
  const result = env[VARIABLES.result];
  const token = env[VARIABLES.token];
  if (!result || !token)
    throw new JobError(
      'usage',
      `only a worker of a job can report: ${VARIABLES.result} and ${VARIABLES.token} are not set`,
    );
  return { result, token };
}

async function findRefusal(result: unknown, schemaFile: string): Promise<string | undefined> {
  const check = await createResultCheck(await readSchema(schemaFile));
  const wrong = check(result);
  if (wrong !== undefined) return wrong;
  const bytes = Buffer.byteLength(JSON.stringify(result));
  return bytes > MAX_RESULT_BYTES
    ? `the result has ${bytes} bytes; the limit is ${MAX_RESULT_BYTES}`
    : undefined;
}

async function readSchema(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Puts the report in its place, whole and on disk. Answers false where there is one, or none is taken any more. */
async function leave(directory: string, text: string): Promise<boolean> {
  const draft = join(directory, `report.${randomUUID()}`);
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.datasync();
    } finally {
      await file.close();
    }
    await link(draft, workerFiles(directory).report);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' || code === 'ENOENT') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

function isSameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
