import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWire, SpawnedCommand, startServer, startStdioServer } from '@exec-server/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'serve-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

it('says where it listens, first of all', async () => {
  await using server = await startServer({ args: ['--log-level', 'debug'] });
  expect(server.url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/);
  await server.stop();
  expect(server.stderr()).toMatch(new RegExp(`^exec-server listening on ${server.url}\n`));
});

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('ends with 0 at %s', async (signal) => {
  await using server = await startServer();
  using _wire = await openWire(server.url);
  server.kill(signal);
  expect(await server.exited).toEqual({ code: 0, signal: null });
});

it('removes its socket file', async () => {
  const path = join(directory, 'x.sock');
  await using server = await startServer({ args: ['--listen', `unix://${path}`] });
  expect(server.url).toBe(`unix://${path}`);
  expect(readdirSync(directory)).toEqual(['x.sock']);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  expect(readdirSync(directory)).toEqual([]);
});

it('serves stdio until the end of its input', async () => {
  await using server = startStdioServer();
  expect(await server.request('initialize', { clientName: 'test' })).toHaveProperty('result.sessionId');
  server.endInput();
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(server.stderr()).toBe('');
});

it('answers what came before the end of its input', async () => {
  const command = new SpawnedCommand({});
  let output = '';
  command.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  command.stdin.end('{"id":1,"method":"initialize","params":{"clientName":"test"}}');
  expect(await command.exited).toEqual({ code: 0, signal: null });
  expect(JSON.parse(output)).toHaveProperty('result.sessionId');
});

it('ends with stdio even when it listens elsewhere too', async () => {
  await using server = startStdioServer({ args: ['--listen', 'stdio', '--listen', 'ws://127.0.0.1:0'] });
  await server.request('initialize', { clientName: 'test' });
  // Whoever is at stdio need not wait for the other listener.
  await expect.poll(() => server.stderr()).toMatch(/^exec-server listening on ws:/);
  server.endInput();
  expect(await server.exited).toEqual({ code: 0, signal: null });
});

it('writes the audit log', async () => {
  const path = join(directory, 'audit.jsonl');
  await using server = startStdioServer({ args: ['--listen', 'stdio', '--audit-log', path] });
  await server.request('initialize', { clientName: 'test' });
  server.send({ method: 'initialized' });
  await server.request('process/start', {
    processId: 'p',
    argv: ['/bin/sh', '-c', 'exit 3'],
    cwd: 'file:///tmp',
    env: {},
    tty: false,
    arg0: null,
  });
  await server.next((message) => message.method === 'process/closed', 'the end of the process');
  server.endInput();
  await server.exited;
  const events = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events).toMatchObject([
    {
      event: 'process-started',
      principal: { kind: 'anonymous' },
      remote: 'stdio',
      argv: ['/bin/sh', '-c', 'exit 3'],
    },
    { event: 'process-ended', outcome: 'exited', exitCode: 3 },
  ]);
});

it('takes its settings from a file, and flags before that', async () => {
  const config = join(directory, 'exec-server.toml');
  const spill = join(directory, 'spill');
  writeFileSync(
    config,
    `listen = ["stdio"]
    max-processes = 1
    max-processes-per-connection = 7
    spill-dir = "${spill}"
    allow-prepared-exec = false`,
  );
  await using server = startStdioServer({ args: ['--config', config, '--max-processes', '2'] });
  await server.request('initialize', { clientName: 'test' });
  server.send({ method: 'initialized' });
  const start = (processId: string) =>
    server.request('process/start', {
      processId,
      argv: ['/bin/sleep', '60'],
      cwd: 'file:///tmp',
      env: {},
      tty: false,
      spill: true,
    });
  expect(await start('1')).toHaveProperty('result.pid');
  expect(await start('2')).toHaveProperty('result.pid');
  expect(await start('3')).toHaveProperty('error.message', 'the server runs its limit of 2 processes');
  expect(readdirSync(spill)).toHaveLength(2);
  const prepared = {
    processId: 'x',
    program: '/bin/true',
    argv: ['true'],
    cwd: 'file:///',
    env: {},
    tty: false,
  };
  expect(await server.request('process/startPrepared', prepared)).toHaveProperty(
    'error.message',
    'prepared execution is not allowed on this server',
  );
});

it('waits for its processes as long as it was told, and no longer', async () => {
  await using server = await startServer({ args: ['--shutdown-grace-ms', '0'] });
  using wire = await openWire(server.url);
  await wire.request('initialize', { clientName: 'test' });
  server.kill('SIGTERM');
  expect(await server.exited).toEqual({ code: 0, signal: null });
});

it('ends with 1 when its file is wrong, and names file and key', async () => {
  const config = join(directory, 'exec-server.toml');
  writeFileSync(config, 'max-proceses = 1');
  const command = new SpawnedCommand({ args: ['--config', config] });
  command.stdout.resume();
  expect(await command.exited).toEqual({ code: 1, signal: null });
  expect(command.stderr()).toBe(
    `Error: invalid configuration file ${config}: unknown key \`max-proceses\`\n`,
  );
});

it('ends with 1 when an address is taken', async () => {
  await using server = await startServer();
  const second = new SpawnedCommand({ args: ['--listen', server.url] });
  second.stdout.resume();
  expect(await second.exited).toEqual({ code: 1, signal: null });
  expect(second.stderr()).toBe(`Error: cannot listen on ${server.url}: Address in use (os error 98)\n`);
});
