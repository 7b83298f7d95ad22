import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cancelJob } from '../../src/run/job-run.js';
import { makeDirectory } from '../temp-directory.js';
import { column, finish, inDirectory, numbers, runToEnd, sh, startJob } from './support.js';

describe('runJob', () => {
  it('runs 100 rows, 64 at once: all completed, 101 lines', async () => {
    const { summary, output, events } = await runToEnd({
      rows: numbers(100),
      command: sh('echo "{\\"n\\": $1}"', '{n}'),
      concurrency: 64,
    });
    expect(summary).toMatchObject({
      status: 'completed',
      total: 100,
      completed: 100,
      failed: 0,
      failures: [],
    });
    expect((await readFile(summary.outputPath, 'utf8')).split('\n')).toHaveLength(102);
    expect(column(output, 'row_index')).toEqual(numbers(100).map(({ n }) => n));
    expect(column(output, 'result_json')).toEqual(numbers(100).map(({ n }) => `{"n":${n}}`));
    expect(new Set(column(output, 'status'))).toEqual(new Set(['completed']));
    expect(events.filter(({ type }) => type === 'started')).toHaveLength(100);
  });

  it('writes beside the input, and leaves neither server nor workers’ files', async () => {
    const directory = await makeDirectory();
    const csv = join(directory, 'in.put.csv');
    await writeFile(csv, 'name,v\n"a b",1\nx,2\n');
    const { run, summary, output } = await runToEnd({
      csv,
      idColumn: 'name',
      command: sh(
        'test "$(cat "$EXEC_SERVER_ROW")" = "$(cat)"; echo $? $EXEC_SERVER_ITEM_ID; echo "$1" >&2',
        '{{{v}}}',
      ),
    });
    expect(summary.outputPath).toBe(join(directory, `in.put.agent-job-${run.id.slice(0, 8)}.csv`));
    expect(output).toMatchObject([
      {
        name: 'a b',
        v: '1',
        job_id: run.id,
        item_id: 'a b',
        source_id: 'a b',
        status: 'completed',
        attempt_count: '1',
        last_error: '',
        result_json: '',
      },
      { name: 'x', v: '2', item_id: 'x' },
    ]);
    expect(await readdir(run.directory)).toEqual([
      'job.json',
      'journal.jsonl',
      'lock.1',
      'logs',
      'rows.jsonl',
      'server.log',
    ]);
    const log = (await readFile(inDirectory(run, 'logs/0-1.jsonl'), 'utf8')).trim().split('\n');
    const texts = log.map((line) => JSON.parse(line) as { stream: string; data: string });
    expect(
      texts.map(({ stream, data }) => `${stream} ${Buffer.from(data, 'base64').toString()}`).sort(),
    ).toEqual(['stderr {1}\n', 'stdout 0 a b\n']);
  });

  it('has an output of its header alone where there are no rows', async () => {
    const { summary, output } = await runToEnd({ rows: [], command: ['true'] });
    expect(summary).toMatchObject({ status: 'completed', total: 0 });
    expect(output).toEqual([]);
  });

  it('says of each item that failed why, and tries none twice', async () => {
    const cases = [
      ['/bin/sh', 'exit 3', 'worker exited with code 3'],
      ['/bin/sh', 'kill -TERM $$', 'worker was ended by SIGTERM'],
      ['/bin/sh', 'sleep 60', 'worker exceeded max runtime of 1s'],
      ['/nonexistent/program', '', expect.stringMatching(/^failed to spawn worker: /)],
      ['/bin/sh', 'exit 0', ''],
    ];
    const { summary, output } = await runToEnd({
      rows: cases.map(([program, script]) => ({ program, script })),
      command: ['{program}', '-c', '{script}'],
      timeoutMs: 1000,
    });
    expect(column(output, 'last_error')).toEqual(cases.map(([, , error]) => error));
    expect(column(output, 'status')).toEqual(['failed', 'failed', 'failed', 'failed', 'completed']);
    expect(new Set(column(output, 'attempt_count'))).toEqual(new Set(['1']));
    expect(summary).toMatchObject({ status: 'completed', completed: 1, failed: 4 });
    expect(summary.failures[0]).toEqual({
      itemId: 'row-1',
      sourceId: undefined,
      error: 'worker exited with code 3',
    });
  });

  it('tries again as often as it may, and says how often it did', async () => {
    const directory = await makeDirectory();
    const script = 'echo >> "$1/$2"; test $(wc -l < "$1/$2") -gt "$2"';
    const { output, events } = await runToEnd({
      rows: numbers(4),
      command: sh(script, directory, '{n}'),
      retries: 2,
    });
    expect(column(output, 'status')).toEqual(['completed', 'completed', 'completed', 'failed']);
    expect(column(output, 'attempt_count')).toEqual(['1', '2', '3', '3']);
    expect(column(output, 'last_error')).toEqual(['', '', '', 'worker exited with code 1']);
    expect(events.filter(({ type }) => type === 'retrying')).toHaveLength(1 + 2 + 2);
  });

  it('is cancelled: what runs is ended, what waits is not started', async () => {
    const run = await startJob({ rows: numbers(5), command: ['sleep', '300'], concurrency: 2 });
    const events = run[Symbol.asyncIterator]();
    await events.next();
    await events.next();
    await cancelJob(run.directory);
    const { summary, output } = await finish(run);
    expect(summary).toMatchObject({ status: 'cancelled', error: 'cancelled by user', failed: 2 });
    expect(column(output, 'status')).toEqual(['failed', 'failed', 'pending', 'pending', 'pending']);
    expect(column(output, 'last_error').slice(0, 2)).toEqual(['cancelled', 'cancelled']);
  });

  it('is cancelled by its signal', async () => {
    const { summary } = await runToEnd({
      rows: numbers(2),
      command: ['sleep', '300'],
      signal: AbortSignal.abort(),
    });
    expect(summary).toMatchObject({ status: 'cancelled', total: 2 });
  });

  it('runs no more at once than it may', async () => {
    const directory = await makeDirectory();
    // Each takes one of two directories, and fails where both are taken.
    const script =
      'mkdir "$1/a" 2>/dev/null && d=a || { mkdir "$1/b" && d=b; } || exit 1; sleep 0.02; rmdir "$1/$d"';
    const { summary } = await runToEnd({ rows: numbers(20), command: sh(script, directory), concurrency: 2 });
    expect(summary).toMatchObject({ completed: 20, failed: 0 });
  });

  it('fails where its output cannot be written, and says so', async () => {
    const directory = await makeDirectory();
    await writeFile(join(directory, 'file'), '');
    const run = await startJob({
      rows: numbers(1),
      command: ['true'],
      output: join(directory, 'file/out.csv'),
    });
    const summary = await run.result;
    expect(summary).toMatchObject({ status: 'failed', completed: 1 });
    expect(summary.error).toMatch(/^auto-export failed: /);
  });

  it('keeps the end of what a worker writes, and how much is missing', async () => {
    const { run } = await runToEnd({
      rows: numbers(1),
      command: sh('head -c 3000000 /dev/zero | tr "\\0" x; echo end'),
    });
    const lines = (await readFile(inDirectory(run, 'logs/0-1.jsonl'), 'utf8')).trim().split('\n');
    const records = lines.map((line) => JSON.parse(line) as { data?: string; droppedBytes?: number });
    const kept = records.reduce((sum, { data = '' }) => sum + Buffer.byteLength(data, 'base64'), 0);
    const dropped = records.reduce((sum, { droppedBytes = 0 }) => sum + droppedBytes, 0);
    expect(kept).toBeLessThanOrEqual((512 + 256) * 1024);
    expect(kept + dropped).toBe(3_000_004);
    expect(Buffer.from(records.at(-1)?.data ?? '', 'base64').toString()).toMatch(/end\n$/);
  });
});
