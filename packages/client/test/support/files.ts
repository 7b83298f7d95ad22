import { execFileSync } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecServerOptions } from '@exec-server/server';
import { onTestFinished } from 'vitest';
import { createFileSystem } from '../../src/fs/create-file-system.js';
import type { FileSystem } from '../../src/fs/file-system.js';
import type { ExecServerClientOptions } from '../../src/low-level/client-options.js';
import { ExecServerClient } from '../../src/low-level/exec-server-client.js';
import { CuttingDialer } from './cutting-dialer.js';
import { openServer } from './machine.js';

/** A directory that goes with the test; its path leads through no links. */
export async function makeTempDirectory(): Promise<string> {
  const path = await mkdtemp(join(await realpath(tmpdir()), 'exec-server-test-'));
  onTestFinished(async () => {
    // What a test closed to others is closed to its cleaner, too, unless that is root.
    execFileSync('chmod', ['-R', 'u+rwX', path]);
    await rm(path, { recursive: true, force: true });
  });
  return path;
}

/** The files of a real server, and a directory of its own to play in. */
export interface RemoteFiles {
  readonly fs: FileSystem;
  readonly client: ExecServerClient;
  readonly dialer: CuttingDialer;
  readonly directory: string;
  /** Native path of a name in the directory. */
  readonly path: (name?: string) => string;
}

/** @param clientOptions `reconnect: false` for a connection that is not made again once it is cut */
export async function openFiles(
  options: ExecServerOptions = {},
  clientOptions: ExecServerClientOptions = {},
): Promise<RemoteFiles> {
  const directory = await makeTempDirectory();
  const dialer = new CuttingDialer(openServer(options));
  const client = new ExecServerClient(dialer, clientOptions);
  onTestFinished(() => client.close());
  return {
    fs: createFileSystem(client),
    client,
    dialer,
    directory,
    path: (name = '') => join(directory, name),
  };
}

/** Counts calls of a method that are under way, and the most there ever were at once. */
export function countCalls(client: ExecServerClient, method: string): { most: number; total: number } {
  const counts = { most: 0, total: 0 };
  let present = 0;
  const call = client.call.bind(client);
  client.call = async (name, params, options) => {
    if (name !== method) return call(name, params, options);
    counts.total++;
    counts.most = Math.max(counts.most, ++present);
    try {
      return await call(name, params, options);
    } finally {
      present--;
    }
  };
  return counts;
}

/** What a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}
