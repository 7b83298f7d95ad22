import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createJob } from '../../src/store/create-job.js';
import { describeJob, exportJob, listJobs, readLog, streamJob } from '../../src/store/inspect-job.js';
import { JobLock } from '../../src/store/job-lock.js';
import { findJob, StoredJob } from '../../src/store/stored-job.js';
import { collect } from '../collect.js';
import { makeDirectory } from '../temp-directory.js';

/** A job of which one item is completed, one runs, and one waits. */
async function makeJob(root: string) {
  const files = await createJob({
    rows: [{ a: 'x' }, { a: 'y' }, { a: 'z' }],
    idColumn: 'a',
    command: ['true'],
    root,
  });
  const start = { type: 'start', attempt: 1, machine: 'm', session: 's', directory: '/d', at: 1 } as const;
  await using job = await StoredJob.open(files.directory);
  await job.change({ type: 'job', status: 'running', at: 1 });
  await job.change({ ...start, item: 0 });
  await job.change({ ...start, item: 1 });
  await job.change({ type: 'end', item: 0, attempt: 1, status: 'completed', result: { r: 1 }, at: 2 });
  return files;
}

describe('a job that is looked at', () => {
  it('tells how far it is and who runs it, and is not changed', async () => {
    const files = await makeJob(await makeDirectory());
    await appendFile(files.journal, '{"type":"end","ite');
    const before = await readFile(files.journal, 'utf8');
    expect(await describeJob(files.directory)).toMatchObject({
      status: 'running',
      runnerPid: undefined,
      total: 3,
      counts: { pending: 1, running: 1, completed: 1, failed: 0 },
    });
    await using _ = await JobLock.acquire(files.directory);
    expect((await describeJob(files.directory)).runnerPid).toBe(process.pid);
    const path = join(files.directory, 'so-far.csv');
    await exportJob(files.directory, path, 'csv');
    const lines = (await readFile(path, 'utf8')).split('\n');
    expect(lines).toHaveLength(5);
    expect(lines[1]).toMatch(/^x,.*,completed,1,,"{""r"":1}",,1970-01-01T00:00:00.002Z$/);
    const items = (await collect(streamJob(files.directory, 'jsonl'))).join('').trim().split('\n');
    expect(items.map((line) => (JSON.parse(line) as { status: string }).status)).toEqual([
      'completed',
      'running',
      'pending',
    ]);
    expect(await readFile(files.journal, 'utf8')).toBe(before);
  });

  it('is found by how its id begins, and listed, newest first, among what is no job', async () => {
    const root = await makeDirectory();
    expect(await listJobs(join(root, 'none'))).toEqual([]);
    const [one, other] = [await makeJob(root), await makeJob(root)];
    await mkdir(join(root, 'no-job'));
    await writeFile(join(root, 'file'), '');
    const listed = await listJobs(root);
    expect(listed.map(({ directory }) => directory).sort()).toEqual([one.directory, other.directory].sort());
    expect(listed[0]!.createdAt.getTime()).toBeGreaterThanOrEqual(listed[1]!.createdAt.getTime());
    const id = listed[0]?.id ?? '';
    expect(await findJob(root, id.slice(0, 13))).toBe(join(root, id));
    await expect(findJob(root, '')).rejects.toMatchObject({ code: 'not_found' });
    await expect(findJob(root, 'x')).rejects.toThrow(`there is no job x in ${root}`);
  });

  it('has the output of its workers, by item and attempt', async () => {
    const { directory, logs } = await makeJob(await makeDirectory());
    await writeFile(join(logs, '0-1.jsonl'), '{"seq":1,"stream":"stdout","data":"aGk="}\n{"seq":2,"str');
    expect(await collect(readLog(directory, { itemId: 'x' }))).toEqual([
      { seq: 1, stream: 'stdout', data: 'aGk=' },
    ]);
    expect(await collect(readLog(directory, { itemId: 'y' }))).toEqual([]);
    await expect(collect(readLog(directory, { itemId: 'x', attempt: 2 }))).rejects.toThrow(
      'item x has no attempt 2: it was started 1 times',
    );
    await expect(collect(readLog(directory, { itemId: 'w' }))).rejects.toMatchObject({ code: 'not_found' });
  });
});
