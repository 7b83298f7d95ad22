import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A directory that goes with the test; its path leads through no links. */
export async function makeTempDirectory(): Promise<string> {
  const path = await mkdtemp(join(await realpath(tmpdir()), 'exec-server-test-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}
