import { spawn } from 'node:child_process';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.js';
import { untilGone } from '../../src/terminate/until-gone.js';

function sleeper(): number {
  const child = spawn('sleep', ['300'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child.pid as number;
}

it('resolves once the last has ended, and at once where nobody runs', async () => {
  const pids = [sleeper(), sleeper()];
  const { signal } = new AbortController();
  let gone = false;
  const waiting = untilGone(pids, { clock: systemClock, signal }).then(() => {
    gone = true;
  });
  process.kill(pids[0] as number, 'SIGKILL');
  await untilGone([pids[0] as number], { clock: systemClock, signal });
  expect(gone).toBe(false);
  process.kill(pids[1] as number, 'SIGKILL');
  await waiting;
  await untilGone(pids, { clock: systemClock, signal });
});

it('gives up with the reason of its signal', async () => {
  const controller = new AbortController();
  const waiting = untilGone([sleeper()], { clock: systemClock, signal: controller.signal });
  const reason = new Error('the connection ended');
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
});
