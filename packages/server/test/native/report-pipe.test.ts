import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { hasMemoryFiles } from '../../src/native/memory-file.js';
import { openReportPipe } from '../../src/native/report-pipe.js';

it.runIf(hasMemoryFiles())('collects what a child says until nobody can say more', async () => {
  const pipe = openReportPipe();
  const child = spawn('/bin/sh', ['-c', 'printf one >&3; (sleep 0.05; printf two >&3) &'], {
    stdio: ['ignore', 'ignore', 'ignore', pipe.fd],
  });
  pipe.handOver();
  pipe.handOver();
  await once(child, 'exit');
  expect((await pipe.report).toString()).toBe('onetwo');
  pipe.close();
});

it.runIf(hasMemoryFiles())('ends when it is closed, with a child or without', async () => {
  const pipe = openReportPipe();
  pipe.close();
  pipe.close();
  expect(await pipe.report).toHaveLength(0);
});
