import { waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { openSessions } from './process-support.js';

interface Listed {
  readonly id: string;
  readonly pid: number;
  readonly exitCode: number | null;
  readonly signal: string | null;
}

async function list({ command }: Awaited<ReturnType<typeof openSessions>>): Promise<Listed[]> {
  return JSON.parse((await command('ps', ['--all', '--json'])).stdout) as Listed[];
}

describe('kill', () => {
  it('ends processes of other sessions and returns when they are gone', async () => {
    const sessions = await openSessions();
    await sessions.start('one', 'sleep 60');
    await sessions.start('two', 'sleep 60');
    const before = await list(sessions);
    expect(await sessions.command('kill', ['one', 'two'])).toEqual({ code: 0, stdout: '', stderr: '' });
    for (const { pid } of before) await waitForProcessGone(pid);
    expect((await list(sessions)).map(({ signal }) => signal)).toEqual(['SIGTERM', 'SIGTERM']);
  });

  it('kills what does not end within its grace', async () => {
    const sessions = await openSessions();
    await sessions.start('stubborn', "trap '' TERM; echo ready; while :; do sleep 0.05; done");
    await sessions.untilWritten('stubborn', 'ready');
    expect(await sessions.command('kill', ['--grace', '300ms', 'stubborn'])).toMatchObject({ code: 0 });
    expect(await list(sessions)).toMatchObject([{ signal: 'SIGKILL' }]);
  });

  it('sends one signal and leaves the rest to the process', async () => {
    const sessions = await openSessions();
    await sessions.start('job', "trap 'exit 4' USR1; echo ready; while :; do sleep 0.05; done");
    await sessions.untilWritten('job', 'ready');
    await sessions.command('kill', ['-s', 'CONT', 'job']);
    expect(await list(sessions)).toMatchObject([{ exitCode: null }]);
    expect(await sessions.command('kill', ['-s', 'USR1', 'job'])).toMatchObject({ code: 0 });
    expect(await sessions.command('attach', ['-n', 'job'])).toMatchObject({ code: 4 });
  });

  it('does what it can, and says what it cannot', async () => {
    const sessions = await openSessions();
    await sessions.start('alive', 'sleep 60');
    await sessions.start('over', 'exit 0');
    await sessions.command('attach', ['-n', 'over']);
    const { code, stderr } = await sessions.command('kill', ['over', 'nobody', 'alive']);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'Error: process over has already ended\n' +
        'Error: no process nobody\n`exec-server ps --all` lists the processes there are.\n',
    });
    expect(await list(sessions)).toMatchObject([{ id: 'alive', signal: 'SIGTERM' }, { id: 'over' }]);
  });

  it('refuses what makes no sense', async () => {
    const { command } = await openSessions();
    expect(await command('kill', ['-s', 'NOPE', 'x'])).toMatchObject({ code: 2 });
    expect(await command('kill', ['-s', 'HUP', '--grace', '1s', 'x'])).toMatchObject({ code: 2 });
    expect(await command('kill', [])).toMatchObject({ code: 2 });
  });
});
