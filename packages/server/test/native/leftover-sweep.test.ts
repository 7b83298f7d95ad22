import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { collectLeaders, LeftoverSweep } from '../../src/native/leftover-sweep.js';

describe('LeftoverSweep', () => {
  it('reports a leader when the last process of its session and group is gone', async () => {
    const reported: number[] = [];
    let onReport = () => {};
    const sweep = new LeftoverSweep<number>(
      () => collectLeaders(),
      (leader) => {
        reported.push(leader);
        onReport();
      },
    );
    const nextReport = () =>
      new Promise<void>((resolve) => {
        onReport = resolve;
      });
    const living = spawn('/bin/sleep', ['1000'], { detached: true });
    const ended = spawn('/bin/true', { detached: true });
    await once(ended, 'exit');
    // The sweep's timer does not keep the loop alive.
    const keepAlive = setInterval(() => {}, 1_000);
    sweep.add(living.pid!);
    sweep.add(ended.pid!);
    await nextReport();
    expect(reported).toEqual([ended.pid]);
    living.kill('SIGKILL');
    await once(living, 'exit');
    const report = nextReport();
    sweep.add(ended.pid!);
    sweep.delete(ended.pid!);
    await report;
    expect(reported).toEqual([ended.pid, living.pid]);
    sweep.close();
    clearInterval(keepAlive);
  });

  it('takes nobody for gone when it cannot look, and looks again', async () => {
    let looks = 0;
    let sweep!: LeftoverSweep<number>;
    const reported = new Promise<number>((resolve) => {
      sweep = new LeftoverSweep<number>(async () => {
        looks += 1;
        if (looks === 1) throw new Error('cannot look');
        return new Set();
      }, resolve);
    });
    const keepAlive = setInterval(() => {}, 1_000);
    sweep.add(7);
    expect(await reported).toBe(7);
    expect(looks).toBe(2);
    sweep.close();
    clearInterval(keepAlive);
  });
});
