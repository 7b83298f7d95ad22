import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '@exec-server/client';
import { createExecServer, type ExecServerOptions } from '@exec-server/server';
import { startServer } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { resumeJob } from '../../src/run/job-run.js';
import { collect } from '../collect.js';
import { makeDirectory } from '../temp-directory.js';
import { RunnerProcess } from './killed-runner.js';
import { column, finish, numbers, REPORT_COMMAND, sh, startJob } from './support.js';

async function listen(options: ExecServerOptions = {}): Promise<string> {
  const server = createExecServer(options);
  onTestFinished(() => server.close());
  return (await server.listen('ws://127.0.0.1:0')).url;
}

const wait = async (path: string) => {
  while (!(await stat(path).catch(() => undefined))) await new Promise((resolve) => setTimeout(resolve, 10));
};

describe('several machines', () => {
  it('items of a machine that is lost are tried elsewhere, if that is allowed', async () => {
    const directory = await makeDirectory();
    const lost = await startServer();
    onTestFinished(() => lost.kill('SIGKILL'));
    const script = 'touch "$1/$2"; while ! test -e "$1/go"; do sleep 0.02; done';
    const run = await startJob({
      rows: numbers(4),
      command: sh(script, directory, '{n}'),
      machines: [
        { name: 'stays', url: await listen(), slots: 2 },
        { name: 'lost', url: lost.url, slots: 2 },
      ],
      retries: 1,
      lostAfterMs: 200,
      root: directory,
    });
    const told = run[Symbol.asyncIterator]();
    for (const { n } of numbers(4)) await wait(join(directory, n));
    lost.kill('SIGKILL');
    const events: [type: string, machine?: string][] = [];
    for await (const event of told) {
      events.push('machine' in event ? [event.type, event.machine] : [event.type]);
      if (events.filter(([type]) => type === 'retrying').length === 2)
        await writeFile(join(directory, 'go'), '');
    }
    const { summary, output } = await finish(run);
    expect(summary).toMatchObject({ status: 'completed', completed: 4 });
    expect(column(output, 'attempt_count').sort()).toEqual(['1', '1', '2', '2']);
    const started = events.filter(([type]) => type === 'started').map(([, machine]) => String(machine));
    expect(started.slice(0, 4).sort()).toEqual(['lost', 'lost', 'stays', 'stays']);
    expect(started.slice(4)).toEqual(['stays', 'stays']);
  });

  it('without any machine left the job fails, and what waits is not lost', async () => {
    const directory = await makeDirectory();
    const lost = await startServer();
    onTestFinished(() => lost.kill('SIGKILL'));
    const run = await startJob({
      rows: numbers(3),
      command: sh('touch "$1/ready"; sleep 300', directory),
      machines: [{ name: 'lost', url: lost.url, slots: 1 }],
      lostAfterMs: 100,
      root: directory,
    });
    await wait(join(directory, 'ready'));
    lost.kill('SIGKILL');
    const { summary, output } = await finish(run);
    expect(summary).toMatchObject({
      status: 'failed',
      error: 'job runner failed: no machine is left to run the rest on',
    });
    expect(column(output, 'status')).toEqual(['failed', 'pending', 'pending']);
    expect(column(output, 'last_error')[0]).toMatch(/^outcome unknown: /);
  });

  it.each([
    ['its session is still there', 30_000],
    ['its session has ended', 0],
  ])('a worker elsewhere is adopted when %s', async (_, detachedSessionMs) => {
    const directory = await makeDirectory();
    const url = await listen({ detachedSessionMs });
    const report = REPORT_COMMAND.join(' ');
    const script = `echo >> "$1/starts"; touch "$1/ready"; while ! test -e "$1/go"; do sleep 0.02; done
      ${report} '{"result": {"there": true} }' >&2`;
    const runner = new RunnerProcess({
      rows: numbers(1),
      command: sh(script, directory),
      machines: [{ name: 'there', url }],
      root: directory,
    });
    const job = await runner.directory();
    await wait(join(directory, 'ready'));
    await runner.kill();
    const run = await resumeJob(job ?? '');
    await writeFile(join(directory, 'go'), '');
    const { output } = await finish(run);
    expect(column(output, 'result_json')).toEqual(['{"there":true}']);
    expect(column(output, 'attempt_count')).toEqual(['1']);
    expect(await readFile(join(directory, 'starts'), 'utf8')).toBe('\n');
  });

  it('what a worker came to is removed from its machine once it is on record', async () => {
    const url = await listen();
    const { output } = await finish(
      await startJob({ rows: numbers(3), command: ['true'], machines: [{ name: 'there', url }] }),
    );
    expect(column(output, 'status')).toEqual(['completed', 'completed', 'completed']);
    const machine = await connect(url);
    onTestFinished(() => machine.close());
    expect(await collect(machine.processes.list({ scope: 'all' }))).toEqual([]);
  });

  it('says which server cannot be reached, and leaves no job behind that never began', async () => {
    const root = await makeDirectory();
    const starting = startJob({
      root,
      rows: numbers(1),
      command: ['true'],
      machines: [{ name: 'nowhere', url: 'ws://127.0.0.1:1' }],
    });
    await expect(starting).rejects.toMatchObject({
      code: 'server',
      message: expect.stringContaining('the server at ws://127.0.0.1:1 cannot be reached: '),
    });
    expect(await readdir(root)).toEqual([]);
  });
});
