import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExecServer, type ExecServerOptions } from '@exec-server/server';
import { afterAll, onTestFinished } from 'vitest';
import { runCommandLine } from '../src/run-command-line.js';
import { FakeIo } from './support.js';

/** A directory that is gone after the tests of a file. */
export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'exec-server-cli-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A server that ends with the test. Returns its address. */
export async function listen(options: ExecServerOptions = {}): Promise<string> {
  const server = createExecServer(options);
  onTestFinished(() => server.close());
  return (await server.listen('ws://127.0.0.1:0')).url;
}

/** Runs a command line and collects what it says. */
export async function runCommand(args: readonly string[], io = new FakeIo()) {
  const code = await runCommandLine(args, io);
  return { code, stdout: io.stdout.text, stderr: io.stderr.text };
}
