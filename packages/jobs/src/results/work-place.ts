import { createHash, createHmac } from 'node:crypto';
import { basename, dirname, join } from 'node:path/posix';
import type { JobItem } from '../store/job-rows.js';

/** The part of `node:fs/promises` that workers' files are kept by, here or on another machine. */
export interface PlaceFiles {
  mkdir(path: string, options: { readonly recursive: boolean }): Promise<unknown>;
  writeFile(path: string, data: string): Promise<void>;
  readFile(path: string, encoding: 'utf8'): Promise<string>;
  symlink(target: string, path: string): Promise<void>;
  rm(path: string, options: { readonly recursive: boolean; readonly force: boolean }): Promise<void>;
  /** Removes a directory only if it is empty. It and `unlink` are absent where that takes as long as `rm`. */
  rmdir?(path: string): Promise<void>;
  unlink?(path: string): Promise<void>;
}

/** What a worker is told of itself. */
export interface WorkerFiles {
  readonly directory: string;
  /** The row as JSON. */
  readonly row: string;
  /** Where the worker may write its result. */
  readonly result: string;
  /** Where its report is. */
  readonly report: string;
}

/** What `job report` leaves. */
export interface Report {
  readonly result: unknown;
  readonly stop: boolean;
  /** Unix time in milliseconds. */
  readonly reportedAt: number;
}

/** Variables of a worker. */
export const VARIABLES = {
  jobId: 'EXEC_SERVER_JOB_ID',
  itemId: 'EXEC_SERVER_ITEM_ID',
  row: 'EXEC_SERVER_ROW',
  result: 'EXEC_SERVER_RESULT',
  token: 'EXEC_SERVER_REPORT_TOKEN',
} as const;

/** What a link in place of a report points to: nothing. */
const CLOSED = 'closed';
/** Name of the file of a report. */
const REPORT_FILE = 'report.json';
/** Directory beside the workers', in which each one that has reported leaves a file with the name of its directory. */
const REPORTED_DIRECTORY = 'reported';
/** Of the digest in the name of a directory, in hexadecimal digits. */
const DIGEST_DIGITS = 32;

/** The token of one attempt. It is the same whenever it is made, so that a runner that takes over makes it again. */
export function createToken(secret: string, index: number, attempt: number): string {
  return createHmac('sha256', secret).update(`${index}:${attempt}`).digest('base64url');
}

/** Ties a token to one worker of one item. */
export function digestToken(token: string, jobId: string, itemId: string): string {
  const text = JSON.stringify([token, jobId, itemId]);
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_DIGITS);
}

export function workerFiles(directory: string): WorkerFiles {
  return {
    directory,
    row: join(directory, 'row.json'),
    result: join(directory, 'result.json'),
    report: join(directory, REPORT_FILE),
  };
}

/** The name of an attempt's directory. Whoever has the token can tell that the directory is theirs. */
export function workDirectory(root: string, index: number, attempt: number, digest: string): string {
  return join(root, `${index}-${attempt}-${digest}`);
}

/** The digest in the name of an attempt's directory. */
export function digestOf(directory: string): string {
  return directory.slice(directory.lastIndexOf('-') + 1);
}

/** Where it can be watched that somebody has reported. */
export function reportedDirectory(root: string): string {
  return join(root, REPORTED_DIRECTORY);
}

/** What tells the runner that a worker has reported. */
export function reportedFile(directory: string): string {
  return join(reportedDirectory(dirname(directory)), basename(directory));
}

/** Makes the files of a worker, where they are not there yet. */
export async function prepareWork(files: PlaceFiles, directory: string, { row }: JobItem): Promise<void> {
  try {
    await files.mkdir(directory, { recursive: false });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  await files.writeFile(workerFiles(directory).row, JSON.stringify(row));
}

/** The report of a worker; nothing where there is none, or none can come any more. */
export async function readReport(files: PlaceFiles, directory: string): Promise<Report | undefined> {
  try {
    return JSON.parse(await files.readFile(workerFiles(directory).report, 'utf8')) as Report;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** What a worker that has ended left. */
export interface WorkLeft {
  /** The report that came before the end. */
  readonly report?: Report;
  /** Text of the result file. */
  readonly resultFile?: string;
  /** Nothing is left, not even the directory. */
  readonly isRemoved: boolean;
}

/** Takes no report any more. Of this and a report one comes first, and only one can. */
export async function closeWork(files: PlaceFiles, directory: string): Promise<WorkLeft> {
  // Most workers leave nothing; a directory that is gone takes no report either.
  if (await removeIfEmpty(files, directory)) return { isRemoved: true };
  const report = await closeReports(files, directory);
  if (report !== undefined) return { report, isRemoved: false };
  const resultFile = await readResultFile(files, directory);
  return { ...(resultFile !== undefined && { resultFile }), isRemoved: false };
}

/** Takes no report any more. Answers the one that came first, where one did. */
export async function closeReports(files: PlaceFiles, directory: string): Promise<Report | undefined> {
  try {
    await files.symlink(CLOSED, workerFiles(directory).report);
    return undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (errnoOf(error) !== 'EEXIST') throw error;
    return readReport(files, directory);
  }
}

export function removeWork(files: PlaceFiles, directory: string): Promise<void> {
  return files.rm(directory, { recursive: true, force: true });
}

async function removeIfEmpty(files: PlaceFiles, directory: string): Promise<boolean> {
  if (files.rmdir === undefined || files.unlink === undefined) return false;
  try {
    await files.unlink(workerFiles(directory).row);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  try {
    await files.rmdir(directory);
    return true;
  } catch (error) {
    if (isMissing(error)) return true;
    if (NOT_EMPTY.has(errnoOf(error))) return false;
    throw error;
  }
}

/** Systems differ in which they say. */
const NOT_EMPTY: ReadonlySet<string | undefined> = new Set(['ENOTEMPTY', 'EEXIST']);

async function readResultFile(files: PlaceFiles, directory: string): Promise<string | undefined> {
  try {
    return await files.readFile(workerFiles(directory).result, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return errnoOf(error) === 'ENOENT';
}

/** The name of the system's error; those of other machines have it in another place. */
function errnoOf(error: unknown): string | undefined {
  const { code, errno } = error as { readonly code?: string; readonly errno?: unknown };
  return typeof errno === 'string' ? errno : code;
}
