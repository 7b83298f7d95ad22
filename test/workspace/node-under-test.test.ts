import { execFileSync } from 'node:child_process';
import { readlinkSync, realpathSync } from 'node:fs';
import { startServer } from '@exec-server/testing';
import { expect, it } from 'vitest';

it('is the one that programs find, and its version is the one they get', () => {
  const found = execFileSync('node', ['--print', 'process.version'], { encoding: 'utf8' });
  expect(found.trim()).toBe(process.version);
});

it.runIf(process.platform === 'linux')('runs the servers of tests', async () => {
  await using server = await startServer();
  expect(readlinkSync(`/proc/${server.pid}/exe`)).toBe(realpathSync(process.execPath));
});
