import { access, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExecServer, type ExecServer } from '@exec-server/server';
import { writeAtomically } from '../output/write-atomically.js';
import { jobFiles } from '../store/job-directory.js';
import { readJobSettings } from '../store/job-settings.js';
import { identifyProcess, type ProcessIdentity } from '../store/process-identity.js';

/** Where a job's own server is. */
export interface ServerRecord {
  readonly url: string;
  readonly process: ProcessIdentity;
}

/** How long a server waits for its job to be resumed, in milliseconds. */
const WAIT_FOR_RUNNER_MS = 24 * 3_600_000;
/** How often it looks whether it still waits for something, in milliseconds. */
const LOOK_INTERVAL_MS = 60_000;
/** Longest path of a socket that every system takes, in bytes. */
const MAX_SOCKET_PATH_BYTES = 100;
/** What is kept of the output of one worker until the runner has read it, in bytes. */
const OUTPUT_BYTES_PER_WORKER = 2 * 1024 * 1024;
const LEAST_OUTPUT_BYTES = 256 * 1024 * 1024;

/**
 * Serves one job: on a socket in its directory, until it is asked to end, the directory is gone, or no runner came for a
 * day. What its workers came to is kept for as long, also without a runner. `onReady` is called when it listens.
 */
export async function serveJob(directory: string, onReady: () => void): Promise<void> {
  const files = jobFiles(directory);
  const { id, concurrency } = await readJobSettings(files.settings);
  const server = createExecServer({
    subreaper: true,
    detachedSessionMs: WAIT_FOR_RUNNER_MS,
    closedProcessRetentionMs: WAIT_FOR_RUNNER_MS,
    closedProcessOutputBytes: Math.max(LEAST_OUTPUT_BYTES, concurrency * OUTPUT_BYTES_PER_WORKER),
    maxProcessesPerConnection: Math.max(1024, concurrency * 2),
  });
  const asked = waitForSignal();
  try {
    const { url } = await server.listen(`unix://${socketPath(directory, id)}`);
    const record: ServerRecord = { url, process: await identifyProcess(process.pid) };
    await writeAtomically(files.server, [JSON.stringify(record)]);
    onReady();
    await Promise.race([asked, waitForNobody(server, files.settings)]);
    await rm(files.server, { force: true });
  } finally {
    await server.close();
  }
}

function socketPath(directory: string, id: string): string {
  const path = join(directory, 'server.sock');
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES
    ? path
    : join(tmpdir(), `exec-server-job-${id}.sock`);
}

function waitForSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
  });
}

/** Resolves when the job is gone, or no runner has been connected for long. */
function waitForNobody(server: ExecServer, settingsFile: string): Promise<void> {
  return new Promise((resolve) => {
    let aloneSince = Date.now();
    const timer = setInterval(async () => {
      if (countConnections(server) > 0) aloneSince = Date.now();
      const isGone = await access(settingsFile).then(
        () => false,
        () => true,
      );
      if (!isGone && Date.now() - aloneSince < WAIT_FOR_RUNNER_MS) return;
      clearInterval(timer);
      resolve();
    }, LOOK_INTERVAL_MS);
    timer.unref();
  });
}

function countConnections(server: ExecServer): number {
  const metric = server.metrics().find(({ name }) => name === 'exec_server_connections');
  return metric?.type === 'gauge' ? (metric.samples[0]?.value ?? 0) : 0;
}
