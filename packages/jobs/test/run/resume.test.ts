import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endServer, findServer } from '../../src/local-server/start-server.js';
import { cancelJob, resumeJob } from '../../src/run/job-run.js';
import { jobFiles } from '../../src/store/job-directory.js';
import { isRunning } from '../../src/store/process-identity.js';
import { makeDirectory } from '../temp-directory.js';
import { RunnerProcess } from './killed-runner.js';
import { column, finish, REPORT_COMMAND, SERVER_COMMAND, sh } from './support.js';

const wait = async (condition: () => Promise<boolean>) => {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
};
const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Starts a job with a script for each row, waits until each has made a file with its number, and kills the runner. */
async function interrupt(scripts: readonly string[], more: object = {}) {
  const root = await makeDirectory();
  const runner = new RunnerProcess({
    rows: scripts.map((script, n) => ({ script, n })),
    command: sh('echo $1 >> "$2/starts"; touch "$2/$1"; eval "$3"', '{n}', root, '{script}'),
    root: join(root, 'jobs'),
    ...more,
  });
  const directory = await runner.directory();
  if (directory === undefined) throw new Error('the runner has ended');
  onTestFinished(() => endServer(jobFiles(directory)));
  for (const n of scripts.keys()) await wait(() => exists(join(root, String(n))));
  await runner.kill();
  const starts = async () => (await readFile(join(root, 'starts'), 'utf8')).trim().split('\n').sort();
  return { root, directory, starts };
}

describe('resumeJob', () => {
  it('adopts workers that run, finishes those that ended, and loses no result', async () => {
    const go = 'while ! test -e "$2/go"; do sleep 0.02; done';
    const { directory, root, starts } = await interrupt([
      `${go}; echo '{"late": true}'`,
      `echo '{"a":'; ${go}; echo '1}'`,
      `echo '{"ended": true}'; touch "$2/ended"`,
      'exit 3',
      `${[...REPORT_COMMAND].join(' ')} '{"result": {"reported": true}}' >&2; touch "$2/reported"`,
      'cat',
    ]);
    await wait(() => exists(join(root, 'reported')));
    await wait(() => exists(join(root, 'ended')));
    const run = await resumeJob(directory, { serverCommand: SERVER_COMMAND });
    await writeFile(join(root, 'go'), '');
    const { summary, output } = await finish(run);
    expect(summary).toMatchObject({ status: 'completed', completed: 5, failed: 1 });
    expect(column(output, 'result_json').slice(0, 5)).toEqual([
      '{"late":true}',
      '{"a":1}',
      '{"ended":true}',
      '',
      '{"reported":true}',
    ]);
    // It reads its row, which reaches it once.
    expect(JSON.parse(column(output, 'result_json')[5] ?? '')).toEqual({ script: 'cat', n: 5 });
    expect(column(output, 'last_error')[3]).toBe('worker exited with code 3');
    expect(new Set(column(output, 'attempt_count'))).toEqual(new Set(['1']));
    expect(await starts()).toEqual(['0', '1', '2', '3', '4', '5']);
    await expect(resumeJob(directory)).rejects.toMatchObject({
      code: 'state',
      message: `job ${run.id} is completed; there is nothing to resume`,
    });
  });

  it.each([
    [0, ['failed', 'failed'], ['0', '1']],
    [1, ['completed', 'completed'], ['0', '0', '1', '1']],
  ])(
    'where the server was killed, too, nobody knows: with %i retries',
    async (retries, statuses, started) => {
      const script = 'test $(grep -c "^$1\\$" "$2/starts") = 2 || sleep 300';
      const { directory, starts } = await interrupt([script, script], { retries });
      const server = await findServer(jobFiles(directory));
      if (server === undefined) throw new Error('the server has ended');
      process.kill(server.process.pid, 'SIGKILL');
      await wait(async () => !(await isRunning(server.process)));
      const { output } = await finish(await resumeJob(directory, { serverCommand: SERVER_COMMAND }));
      expect(column(output, 'status')).toEqual(statuses);
      if (retries === 0)
        expect(column(output, 'last_error')).toEqual(
          Array(2).fill('outcome unknown: its machine does not know the worker any more'),
        );
      expect(await starts()).toEqual(started);
    },
  );

  it('a job that nobody runs can be cancelled; its workers end', async () => {
    const { directory, root } = await interrupt([
      'echo $$ > "$2/pid"; touch "$2/ready"; exec sleep 300',
      'sleep 300',
    ]);
    await wait(() => exists(join(root, 'ready')));
    const pid = Number(await readFile(join(root, 'pid'), 'utf8'));
    await cancelJob(directory, { serverCommand: SERVER_COMMAND });
    expect(await isRunning({ pid, started: '' })).toBe(false);
    await expect(resumeJob(directory)).rejects.toMatchObject({ code: 'state' });
  });
});
