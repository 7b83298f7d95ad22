import { setImmediate as nextTurn } from 'node:timers/promises';
import { fixture, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openMachine, sh } from '../support/machine.js';

describe('the callbacks of a run', () => {
  it('hear each stream, and both in order, as whole characters', async () => {
    const machine = await openMachine();
    const heard: string[] = [];
    let [out, err] = ['', ''];
    const script =
      "printf '\\303'; sleep 0.05; printf '\\244\\n'; sleep 0.05; echo err >&2; sleep 0.05; echo end";
    const result = await machine.run(sh(script), {
      onStdout: (text) => {
        out += text;
      },
      onStderr: (text) => {
        err += text;
      },
      onOutput: (text, stream) => void heard.push(`${stream} ${text}`),
    });
    expect([out, err]).toEqual(['ä\nend\n', 'err\n']);
    expect(heard).toEqual(['stdout ä\n', 'stderr err\n', 'stdout end\n']);
    expect(result.stdout.text()).toBe('ä\nend\n');
  });

  it('are waited for, and hear everything of a process that they are too slow for', async () => {
    const machine = await openMachine({ retainedOutputBytes: 64 * 1024 });
    const bytes = 4 * 1024 * 1024;
    let heard = 0;
    await machine.sh(`${fixture('flood')} ${bytes}`, {
      output: { truncate: 'middle' },
      onStdout: async (text) => {
        await nextTurn();
        heard += text.length;
      },
    });
    expect(heard).toBe(bytes);
  });

  it('end the process by what they throw', async () => {
    const machine = await openMachine();
    const fault = new Error('enough');
    let pid = 0;
    const running = machine.run(sh('echo $$; sleep 600'), {
      graceMs: 0,
      onStdout: (text) => {
        pid = Number(text);
        throw fault;
      },
    });
    await expect(running).rejects.toBe(fault);
    await waitForProcessGone(pid);
  });

  it('do not wait for what a process left in the background', async () => {
    const machine = await openMachine();
    let heard = '';
    const onStdout = (text: string) => {
      heard += text;
    };
    const result = await machine.run(sh('sleep 60 & echo $!'), { onStdout });
    onTestFinished(() => void process.kill(Number(heard), 'SIGKILL'));
    expect(result.outputOpen).toBe(true);
    expect(heard).toBe(result.stdout.text());
  });
});
