import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JobError } from '../errors.js';
import { identifyProcess, isRunning, type ProcessIdentity } from './process-identity.js';

const PREFIX = 'lock.';

/** Who has a lock; nobody once it is released. */
interface Holder {
  readonly process: ProcessIdentity | undefined;
}

/**
 * Says that one runner has the job. Locks are numbered, the newest counts, and there is always one: whoever finds its holder
 * gone takes the next number, which only one can. It ends with its process, however that ends.
 */
export class JobLock implements AsyncDisposable {
  private constructor(private readonly path: string) {}

  /** Rejects with `JobError`, `locked`, where another runner has it. */
  static async acquire(directory: string): Promise<JobLock> {
    const self = await identifyProcess(process.pid);
    for (;;) {
      const newest = await findNewest(directory);
      const holder = await readHolder(directory, newest);
      if (holder !== undefined && (await isRunning(holder)))
        throw new JobError('locked', `the job is run by process ${holder.pid}`);
      const path = join(directory, `${PREFIX}${newest + 1}`);
      if (!(await create(path, { process: self }))) continue;
      // Somebody may have taken this number and the next one meanwhile, and have cleared this one away.
      if ((await findNewest(directory)) > newest + 1) {
        await rm(path, { force: true });
        continue;
      }
      for (let old = newest; old > 0 && (await removed(join(directory, `${PREFIX}${old}`))); old--);
      return new JobLock(path);
    }
  }

  /** The process that has the job; absent where none has. */
  static async findHolder(directory: string): Promise<ProcessIdentity | undefined> {
    const holder = await readHolder(directory, await findNewest(directory));
    return holder !== undefined && (await isRunning(holder)) ? holder : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const draft = `${this.path}.${randomUUID()}`;
    await writeFile(draft, JSON.stringify({ process: undefined } satisfies Holder));
    await rename(draft, this.path);
  }
}

/** Makes the file with its content at once. Answers false where there is one. */
async function create(path: string, holder: Holder): Promise<boolean> {
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify(holder));
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function removed(path: string): Promise<boolean> {
  try {
    await rm(path);
    return true;
  } catch {
    return false;
  }
}

async function findNewest(directory: string): Promise<number> {
  const numbers = (await readdir(directory))
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => Number(name.slice(PREFIX.length)))
    .filter((number) => Number.isSafeInteger(number));
  return Math.max(0, ...numbers);
}

async function readHolder(directory: string, number: number): Promise<ProcessIdentity | undefined> {
  if (number === 0) return undefined;
  try {
    const text = await readFile(join(directory, `${PREFIX}${number}`), 'utf8');
    return (JSON.parse(text) as Holder).process;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
