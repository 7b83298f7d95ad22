import { afterEach, beforeEach, expect, test } from 'vitest';
import { LogArchive } from '../src/log-archive.js';
import { SpawnedCommand } from '../src/spawned-command.js';

const before = { ...process.env };
let archive: LogArchive;
beforeEach(() => {
  archive = new LogArchive('the-secret');
});
afterEach(() => {
  archive.remove();
  // The archive of this very run.
  Object.assign(process.env, before);
});

/** Runs a shell script to its end. */
async function run(script: string): Promise<void> {
  const command = new SpawnedCommand({ command: ['/bin/sh', '-c', script] });
  command.stdout.resume();
  await command.exited;
}

test('finds the secret in what commands said, as it is and in base64', async () => {
  await run('echo "a line with $LOG_CANARY in it" >&2; echo more >&2');
  await run('printf %s "$LOG_CANARY" | base64 >&2');
  expect(archive.findLeaks()).toHaveLength(2);
});

test('finds nothing where nothing is told', async () => {
  await run('echo "$LOG_CANARY"; echo harmless >&2');
  expect(archive.findLeaks()).toEqual([]);
});
