import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/run-command-line.js';
import { FakeIo } from '../support.js';
import { openSessions } from './process-support.js';

const TALKING = 'echo out; echo err >&2; read -r word; echo "$word"';

describe('logs', () => {
  it('prints what there is and returns while the process goes on', async () => {
    const { command, start, untilWritten } = await openSessions();
    await start('job', 'echo out; echo err >&2; echo more; sleep 60');
    await untilWritten('job', 'more');
    expect(await command('logs', ['job'])).toEqual({ code: 0, stdout: 'out\nmore\n', stderr: 'err\n' });
    expect(await command('logs', ['j'])).toMatchObject({ code: 0, stdout: 'out\nmore\n' });
  });

  it('follows until the end if asked to', async () => {
    const { url, command, start } = await openSessions();
    await start('job', TALKING);
    const io = new FakeIo();
    const following = runCommandLine(['logs', '-f', '--connect', url, 'job'], io);
    const input = new FakeIo();
    input.stdin.end('last\n');
    expect(await command('attach', ['job'], input)).toMatchObject({ code: 0 });
    expect(await following).toBe(0);
    expect({ stdout: io.stdout.text, stderr: io.stderr.text }).toEqual({
      stdout: 'out\nlast\n',
      stderr: 'err\n',
    });
  });

  it.each([
    ['0', ''],
    ['1', 'five'],
    ['2', 'four\nfive'],
    ['4', 'two\nthree\nfour\nfive'],
    ['5', 'one\ntwo\nthree\nfour\nfive'],
    ['6', 'one\ntwo\nthree\nfour\nfive'],
  ])('prints the last %s of the lines there are', async (lines, stdout) => {
    const { command, start, untilWritten } = await openSessions();
    await start('job', "printf 'one\\ntwo\\nthree\\nfour\\nfive'; sleep 60");
    await untilWritten('job', 'five');
    expect(await command('logs', ['--tail', lines, 'job'])).toEqual({ code: 0, stdout, stderr: '' });
  });

  it('prints the last lines, and what follows', async () => {
    const { url, command, start, untilWritten } = await openSessions();
    await start('job', `echo earlier; ${TALKING}`);
    await untilWritten('job', 'out');
    const io = new FakeIo();
    const following = runCommandLine(['logs', '-f', '-n', '1', '--connect', url, 'job'], io);
    const input = new FakeIo();
    input.stdin.end('last\n');
    expect(await command('attach', ['job'], input)).toMatchObject({ code: 0 });
    expect(await following).toBe(0);
    expect(io.stdout.text).toMatch(/last\n$/);
    expect(io.stdout.text).not.toContain('earlier');
  });

  it.each(['-1', 'x', ''])('takes no %j for a number of lines', async (lines) => {
    const { command } = await openSessions();
    expect(await command('logs', [`--tail=${lines}`, 'job'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("'-n, --tail <LINES>'") as string,
    });
  });

  it('tells programs of every event, with whole characters', async () => {
    const { command, start } = await openSessions();
    await start('job', "printf 'gr\\303'; sleep 0.2; printf '\\274n'; exit 3");
    await command('attach', ['-n', 'job']);
    const { stdout } = await command('logs', ['--json', 'job']);
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events.map(({ type }) => type).slice(-2)).toEqual(['exited', 'closed']);
    expect(events.at(-2)).toMatchObject({ exitCode: 3, timedOut: false });
    expect(events.map(({ text = '' }) => text).join('')).toBe('grün');
  });

  it('says where to look for a process that there is not', async () => {
    const { command } = await openSessions();
    expect(await command('logs', ['nobody'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Error: no process nobody\n`exec-server ps --all` lists the processes there are.\n',
    });
  });

  it('does not choose between several', async () => {
    const { command, start } = await openSessions();
    await start('job-1', 'sleep 60');
    await start('job-2', 'sleep 60');
    const { code, stderr } = await command('logs', ['job']);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'Error: several processes are meant by job\nGive more of its id: job-1, job-2\n',
    });
  });

  it('has sessions to tell two of one id apart', async () => {
    const { command, start } = await openSessions();
    await start('job', 'echo first; sleep 60');
    await start('job', 'echo second; sleep 60');
    const { stderr } = await command('logs', ['job']);
    const [, ...sessions] = /--session: (\S+), (\S+)\n$/.exec(stderr) ?? [];
    expect(sessions).toHaveLength(2);
    expect(await command('logs', ['--session', sessions[1] ?? '', 'job'])).toMatchObject({ code: 0 });
  });
});
