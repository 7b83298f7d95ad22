import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OWN_PROGRAM } from '../../src/own-program.js';
import { listen, makeDirectory, runCommand } from '../command-support.js';
import { FakeIo } from '../support.js';

const directory = makeDirectory();
const csv = join(directory, 'rows.csv');
writeFileSync(csv, 'city,n\nBerlin,1\nParis,2\nRome,3\n');

const job = (...args: string[]) => runCommand(['job', ...args, '--jobs', directory]);
const lines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('job', () => {
  it('runs a command for each row, and tells of it afterwards', async () => {
    const script = 'echo "{\\"city\\": \\"$1\\"}"; echo "warning $1" >&2; test $2 != 2';
    const io = new FakeIo();
    const flags = ['--csv', csv, '--id-column', 'city', '--jobs', directory];
    const { code, stdout } = await runCommand(
      ['job', 'run', ...flags, '--', 'sh', '-c', script, 'sh', '{city}', '{n}'],
      io,
    );
    expect(code).toBe(1);
    const [first, ...rest] = lines(stdout);
    expect(first).toMatchObject({ total_items: 3, pending_items: 3, completed_items: 0, eta_seconds: null });
    const summary = rest.at(-1);
    expect(summary).toMatchObject({
      status: 'completed',
      total_items: 3,
      completed_items: 2,
      failed_items: 1,
      job_error: null,
      failed_item_errors: [{ item_id: 'Paris', source_id: 'Paris', last_error: 'worker exited with code 1' }],
    });
    const id = String(summary?.job_id);
    expect(summary?.output_csv_path).toBe(join(directory, `rows.agent-job-${id.slice(0, 8)}.csv`));
    expect(readFileSync(String(summary?.output_csv_path), 'utf8').split('\n')).toHaveLength(5);
    expect(io.listeners).toBe(0);

    const { stdout: status } = await job('status', id.slice(0, 8), '--json');
    expect(JSON.parse(status)).toMatchObject({ job_id: id, status: 'completed', runner_pid: null });
    expect((await job('list')).stdout).toContain(`${id.slice(0, 8)}  completed   3/3       1`);
    expect(await job('logs', 'Paris', '--job', id)).toMatchObject({
      stdout: '{"city": "Paris"}\n',
      stderr: 'warning Paris\n',
    });
    const { stdout: exported } = await job('export', id, '--jsonl');
    expect(lines(exported).map(({ item_id, result }) => [item_id, result])).toEqual([
      ['Berlin', { city: 'Berlin' }],
      ['Paris', undefined],
      ['Rome', { city: 'Rome' }],
    ]);
    const { stdout: table } = await job('export', id);
    expect(table).toBe(readFileSync(String(summary?.output_csv_path), 'utf8'));
    expect(await job('resume', id)).toMatchObject({
      code: 1,
      stderr: `Error: job ${id} is completed; there is nothing to resume\n`,
    });
    expect(await job('logs', 'Oslo', '--job', id)).toMatchObject({
      code: 1,
      stderr: `Error: job ${id} has no item Oslo\n`,
    });
  });

  it('draws a line on a terminal, with what runs below it, and ends with a summary', async () => {
    const io = new FakeIo();
    io.stderr.isTTY = true;
    const { code, stdout, stderr } = await runCommand(
      ['job', 'run', '--csv', csv, '--jobs', directory, '--', 'sleep', '0.3'],
      io,
    );
    expect(code).toBe(0);
    expect(stderr).toContain('[--------------------] 0/3 0% f0 r3 p0 eta --');
    expect(stderr).toContain('\n  row-2  0s  local');
    expect(stderr).toMatch(/\[#{20}\] 3\/3 100% f0 r0 p0 eta 0\.00s\n$/);
    expect(stdout).toMatch(/^job \S+ completed\n3 of 3 items completed, 0 failed\nresults: /);
  });

  it('is cancelled by an interrupt, with code 130', async () => {
    const io = new FakeIo();
    io.stdout.on('said', () => {
      if (io.stdout.text.includes('"running_items":3')) io.signal('SIGINT');
    });
    const { code, stdout } = await runCommand(
      ['job', 'run', '--csv', csv, '--jobs', directory, '--', 'sleep', '300'],
      io,
    );
    expect(code).toBe(130);
    expect(lines(stdout).at(-1)).toMatchObject({
      status: 'cancelled',
      job_error: 'cancelled by user',
      failed_items: 3,
    });
  });

  it('reports from inside of a worker, with a schema and without a network', async () => {
    const schema = join(directory, 'schema.json');
    writeFileSync(schema, '{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}');
    const script = `"$@" job report '{"n": "x"}' && exit 9; echo "{\\"n\\": $0}" | "$@" job report`;
    const flags = ['--csv', csv, '--schema', schema, '--jobs', directory];
    const worker = ['sh', '-c', script, '{n}', ...OWN_PROGRAM];
    const { code, stdout } = await runCommand(['job', 'run', ...flags, '--', ...worker]);
    expect(lines(stdout).at(-1)).toMatchObject({ completed_items: 3, failed_item_errors: null });
    expect(code).toBe(0);
    const { stdout: exported } = await job('export', '--jsonl');
    expect(lines(exported).map(({ result }) => result)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('runs on servers that are named, and leaves nothing on them', async () => {
    const urls = [await listen(), await listen()];
    const flags = ['--csv', csv, '--connect', urls.join(','), '--slots', '1', '--jobs', directory];
    const script = 'cp "$EXEC_SERVER_ROW" "$EXEC_SERVER_RESULT"; echo "$EXEC_SERVER_RESULT" >> "$0"';
    const paths = join(directory, 'paths');
    const { code, stdout } = await runCommand(['job', 'run', ...flags, '--', 'sh', '-c', script, paths]);
    expect(lines(stdout).at(-1)).toMatchObject({ completed_items: 3 });
    expect(code).toBe(0);
    const { stdout: exported } = await job('export', '--jsonl');
    expect(lines(exported).map(({ result }) => result)).toEqual([
      { city: 'Berlin', n: '1' },
      { city: 'Paris', n: '2' },
      { city: 'Rome', n: '3' },
    ]);
    const left = readFileSync(paths, 'utf8').trim().split('\n');
    expect(left).toHaveLength(3);
    expect(left.filter((path) => existsSync(dirname(dirname(path))))).toEqual([]);
  });

  it('runs on servers by their names', async () => {
    const io = new FakeIo();
    io.env.XDG_CONFIG_HOME = join(directory, 'config');
    await runCommand(['context', 'add', 'one', '--connect', await listen()], io);
    await runCommand(['context', 'add', 'two', '--connect', await listen()], io);
    const flags = ['--csv', csv, '--on', 'one,two', '--slots', '2', '--jobs', directory];
    const { code } = await runCommand(['job', 'run', ...flags, '--', 'true'], io);
    expect(code).toBe(0);
    const { stderr } = await runCommand(['job', 'run', '--csv', csv, '--on', 'three', '--', 'true'], io);
    expect(stderr).toContain('there is no context `three`');
  });

  it.each([
    [['run', '--csv', csv, '--on', 'a,a', '--', 'true'], "invalid value 'a,a' for '--on <NAMES>'"],
    [
      ['run', '--csv', csv, '--on', 'a', '--connect', 'ws://b', '--', 'true'],
      "cannot be used with '--connect <URLS>'",
    ],
    [['run', '--csv', csv], 'a job needs a command: give it behind the options'],
    [['run', '--', 'true'], 'a job needs its rows from one place: a CSV file, a JSONL file, or an iterable'],
    [
      ['run', '--csv', csv, '--concurrency', '65', '--', 'true'],
      'a concurrency of 65 is more than the limit of 64; lift it by `unbounded`',
    ],
    [['run', '--csv', csv, '--timeout', '999ms', '--', 'true'], 'max_runtime_seconds must be >= 1'],
    [['run', '--csv', csv, '--codex', ' '], 'instruction must be non-empty'],
    [
      ['run', '--csv', csv, '--slots', '2', '--', 'true'],
      "the arguments '--token-file <FILE>', '--tls-ca <FILE>' and '--slots <N>' need servers",
    ],
    [['run', '--csv', csv, '--connect', 'ws://a,ws://a', '--', 'true'], 'a server is named twice'],
    [['report', '{}'], 'only a worker of a job can report'],
  ])('%j makes no sense', async (args, message) => {
    const { code, stderr } = await runCommand(['job', ...args]);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it.each([
    [['run', '--csv', csv, '--id-column', 'x', '--', 'true'], 'id_column x was not found in csv headers'],
    [['run', '--csv', '/none.csv', '--', 'true'], 'failed to read csv input /none.csv: '],
    [['status', 'nosuch'], 'there is no job nosuch in '],
  ])('%j fails', async (args, message) => {
    const [command = '', ...rest] = args;
    const { code, stderr } = await runCommand(['job', command, '--jobs', directory, ...rest]);
    expect(stderr).toContain(message);
    expect(code).toBe(1);
  });
});
