import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { JobLock } from '../../src/store/job-lock.js';
import { identifyProcess } from '../../src/store/process-identity.js';
import { makeDirectory } from '../temp-directory.js';

/** A lock of another process. */
async function lockBy(child: ChildProcess, directory: string, number: number): Promise<void> {
  const holder = { process: await identifyProcess(child.pid ?? 0) };
  await writeFile(join(directory, `lock.${number}`), JSON.stringify(holder));
}

describe('JobLock', () => {
  it('one has it, the next one after it is released', async () => {
    const directory = await makeDirectory();
    const lock = await JobLock.acquire(directory);
    expect((await JobLock.findHolder(directory))?.pid).toBe(process.pid);
    await expect(JobLock.acquire(directory)).rejects.toMatchObject({
      code: 'locked',
      message: `the job is run by process ${process.pid}`,
    });
    await lock[Symbol.asyncDispose]();
    expect(await JobLock.findHolder(directory)).toBeUndefined();
    const next = await JobLock.acquire(directory);
    expect(await readdir(directory)).toEqual(['lock.2']);
    await next[Symbol.asyncDispose]();
  });

  it('of a process that was killed it is taken over', async () => {
    const directory = await makeDirectory();
    const child = spawn('sleep', ['60']);
    await lockBy(child, directory, 7);
    await expect(JobLock.acquire(directory)).rejects.toMatchObject({ code: 'locked' });
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    await using _ = await JobLock.acquire(directory);
    expect(await readdir(directory)).toEqual(['lock.8']);
  });

  it('another process with the same id does not keep it', async () => {
    const directory = await makeDirectory();
    const holder = { process: { pid: process.pid, started: 'another boot 1' } };
    await writeFile(join(directory, 'lock.1'), JSON.stringify(holder));
    await using _ = await JobLock.acquire(directory);
  });

  it('of many who want it at once one gets it', async () => {
    const directory = await makeDirectory();
    const attempts = await Promise.allSettled(Array.from({ length: 50 }, () => JobLock.acquire(directory)));
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await readdir(directory)).toEqual(['lock.1']);
  });
});
