import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '@exec-server/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endServer, findServer, startServer } from '../../src/local-server/start-server.js';
import { createJob } from '../../src/store/create-job.js';
import { isRunning } from '../../src/store/process-identity.js';
import { SERVER_COMMAND } from '../run/support.js';
import { makeDirectory } from '../temp-directory.js';

describe('the server of a job', () => {
  it.each([
    ['in its directory', ''],
    ['among the temporary files, where a path has no room for it', 'long-'.repeat(20)],
  ])('listens on a socket %s, for its user alone, and ends when it is asked to', async (_, name) => {
    const root = join(await makeDirectory(), name);
    await mkdir(root, { recursive: true });
    const files = await createJob({ rows: [], command: ['true'], root });
    onTestFinished(() => endServer(files));
    const server = await startServer(files, SERVER_COMMAND, root);
    expect(await findServer(files)).toEqual(server);
    const socket = server.url.slice('unix://'.length);
    expect(socket.startsWith(files.directory)).toBe(name === '');
    expect((await stat(socket)).mode & 0o077).toBe(0);
    const machine = await connect(server.url);
    expect((await machine.run(['pwd'])).stdout.trimmed()).toBe(root);
    await machine.close();
    await endServer(files);
    expect(await isRunning(server.process)).toBe(false);
    expect(await findServer(files)).toBeUndefined();
    await expect(stat(socket)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.each([
    [['/nonexistent/program'], "the job's own server cannot be started: "],
    [['/bin/sh', '-c', 'echo no such luck >&2; exit 3'], "the job's own server has ended: no such luck"],
  ])('%j is told with what it said', async (command, message) => {
    const files = await createJob({ rows: [], command: ['true'], root: await makeDirectory() });
    await expect(startServer(files, command, undefined)).rejects.toThrow(message);
  });
});
