import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CreateJobOptions, createJob } from '../../src/store/create-job.js';
import { readJobSettings } from '../../src/store/job-settings.js';
import { makeDirectory } from '../temp-directory.js';

describe('createJob', () => {
  it('stores rows and settings for its user alone, and starts nothing', async () => {
    const root = await makeDirectory();
    const files = await createJob({
      rows: [{ id: 'a', n: 1 }, { id: 'a' }],
      idColumn: 'id',
      command: ['true'],
      root,
    });
    expect(await readFile(files.rows, 'utf8')).toBe(
      '{"id":"a","source":"a","row":{"id":"a","n":1}}\n{"id":"a-2","source":"a","row":{"id":"a"}}\n',
    );
    const settings = await readJobSettings(files.settings);
    expect(settings).toMatchObject({
      name: `agent-job-${settings.id.slice(0, 8)}`,
      columns: ['id', 'n'],
      totalItems: 2,
      concurrency: 16,
      timeoutMs: 1_800_000,
      retries: 0,
      demandsResult: false,
      output: join(files.directory, 'output.csv'),
    });
    for (const path of [files.directory, files.settings, files.rows, files.journal])
      expect((await stat(path)).mode & 0o077).toBe(0);
  });

  it.each<[Partial<CreateJobOptions>, string]>([
    [{ idColumn: 'x' }, 'id_column x was not found in rows'],
    [
      { rows: [{ status: 1, job_id: 2 }] },
      'the input has columns that the output adds: job_id, status; rename them or leave them out',
    ],
    [{ command: [] }, 'the command of a job must have a program'],
    [{ codex: { instruction: 'x' } }, 'a job needs one worker: a command, or an instruction for Codex'],
    [{ csv: 'x' }, 'a job needs its rows from one place: a CSV file, a JSONL file, or an iterable'],
    [{ timeoutMs: 999 }, 'max_runtime_seconds must be >= 1'],
    [{ concurrency: 0 }, '`concurrency` must be a whole number of at least 1: 0'],
    [{ concurrency: 65 }, 'a concurrency of 65 is more than the limit of 64; lift it by `unbounded`'],
    [{ retries: 1.5 }, '`retries` must be a whole number of at least 0: 1.5'],
    [{ schema: 7 }, 'the schema of results must be a JSON Schema: an object'],
  ])('refuses %j, and leaves nothing behind', async (options, message) => {
    const root = await makeDirectory();
    await expect(createJob({ rows: [{ a: 1 }], command: ['true'], root, ...options })).rejects.toThrow(
      message,
    );
    expect(await readdir(root)).toEqual([]);
  });

  it.each([
    { concurrency: 63 },
    { concurrency: 64 },
    { concurrency: 65, unbounded: true },
    { timeoutMs: 1000 },
  ])('takes %j', async (options) => {
    await createJob({ rows: [], command: ['true'], root: await makeDirectory(), ...options });
  });

  it('refuses a csv file without the id column by the words of the reference', async () => {
    const root = await makeDirectory();
    const csv = join(root, 'in.csv');
    await writeFile(csv, 'a\n1\n');
    await expect(
      createJob({ csv, idColumn: 'b', command: ['true'], root: join(root, 'jobs') }),
    ).rejects.toThrow('id_column b was not found in csv headers');
  });
});
