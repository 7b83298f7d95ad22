import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer, type Wire } from '@exec-server/testing';
import { expect, it, onTestFinished } from 'vitest';
import { READ_ROOT, requireSandbox, rule, sandboxOf } from '../../packages/server/test/support/sandbox.js';
import { firstOutput, notificationOf, openSession, startParams } from '../e2e/session.js';

const CLI = fileURLToPath(new URL('../../packages/cli/', import.meta.url));
/** What the server has loaded from before its files go. */
const KOFFI = dirname(
  createRequire(new URL('../../packages/server/package.json', import.meta.url)).resolve('koffi'),
);

function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'files-gone-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A server of an installed package that is gone: an upgrade removes what the servers that run were started from. */
async function serveFromNowhere(): Promise<Wire> {
  const directory = makeDirectory();
  const installed = join(directory, 'node_modules/exec-server');
  for (const part of ['bin', 'bundle', 'package.json'])
    cpSync(join(CLI, part), join(installed, part), { recursive: true, preserveTimestamps: true });
  symlinkSync(KOFFI, join(directory, 'node_modules/koffi'));
  const command = [process.execPath, join(installed, 'bin/exec-server.js')];
  const server = await startServer({ command, env: { ...process.env, CODEX_HOME: makeDirectory() } });
  onTestFinished(async () => void (await server.stop()));
  rmSync(directory, { recursive: true });
  const { wire } = await openSession(server.url);
  return wire;
}

const start = (wire: Wire, id: string, script: string, changes: object = {}) =>
  wire.request('process/start', startParams(id, ['/bin/sh', '-c', script], changes));

it('processes run, with and without a terminal, and tell their screen', async () => {
  const wire = await serveFromNowhere();
  await start(wire, 'pipe', 'echo piped');
  expect(await firstOutput(wire, 'pipe')).toBe('piped\n');
  await start(wire, 'tty', 'printf drawn; read line', { tty: true, size: { rows: 2, cols: 20 } });
  expect(await firstOutput(wire, 'tty')).toBe('drawn');
  const { result } = await wire.request('process/snapshot', { processId: 'tty' });
  expect(result).toMatchObject({ screen: { lines: ['drawn', ''] } });
  await wire.request('process/terminate', { processId: 'tty' });
  await wire.next(notificationOf('tty', 'process/closed'), 'the end of the terminal');
});

it('a shell has its snapshot', async () => {
  const wire = await serveFromNowhere();
  const shell = { name: 'bash', path: '/bin/bash' };
  const params = startParams('p', ['/bin/bash', '-lc', 'echo restored'], {
    shellSnapshot: { scopeId: 'scope', shell },
  });
  await wire.request('process/start', params);
  expect(await firstOutput(wire, 'p')).toBe('restored\n');
});

it('failures have the texts of the system', async () => {
  const wire = await serveFromNowhere();
  const { error: notStarted } = await wire.request('process/start', startParams('p', ['/nowhere/program']));
  expect(notStarted?.message).toContain('No such file or directory (os error 2)');
  const { error: notRead } = await wire.request('fs/readFile', { path: 'file:///nowhere' });
  expect(notRead).toMatchObject({ code: -32004, message: 'No such file or directory (os error 2)' });
  expect((await wire.request('no/such')).error?.code).toBe(-32601);
});

it('files are read, skills found and requests made', async () => {
  const wire = await serveFromNowhere();
  const directory = makeDirectory();
  mkdirSync(join(directory, 'skill'));
  writeFileSync(join(directory, 'skill/SKILL.md'), '---\nname: here\ndescription: d\n---\n');
  const read = await wire.request('fs/readFile', { path: `file://${directory}/skill/SKILL.md` });
  expect(atob(read.result?.dataBase64 as string)).toContain('name: here');
  const roots = [{ id: 'r', path: `file://${directory}` }];
  const found = await wire.request('capabilityRoots/discoverV1', { roots });
  expect(found.result).toMatchObject({ roots: [{ skills: [{}], error: null }] });
  expect(
    (await wire.request('capabilities/discoverV2', { cwd: `file://${directory}` })).error,
  ).toBeUndefined();

  const upstream = createServer((_, response) => response.end('answered')).listen(0, '127.0.0.1');
  onTestFinished(() => void upstream.close());
  await new Promise((resolve) => upstream.once('listening', resolve));
  const { port } = upstream.address() as { port: number };
  const url = `http://127.0.0.1:${port}/`;
  const { result } = await wire.request('http/request', { method: 'GET', url, requestId: 'r' });
  expect(atob(result?.bodyBase64 as string)).toBe('answered');
});

it('sandboxes confine processes and files', async (context) => {
  await requireSandbox(context);
  const wire = await serveFromNowhere();
  const directory = makeDirectory();
  const sandbox = sandboxOf([READ_ROOT, rule(directory, 'write')]);
  await start(wire, 'p', 'echo confined', { sandbox });
  expect(await firstOutput(wire, 'p')).toBe('confined\n');
  const path = `file://${directory}/file`;
  const written = await wire.request('fs/writeFile', { path, dataBase64: btoa('text'), sandbox });
  expect(written.error).toBeUndefined();
});
