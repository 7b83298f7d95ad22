import { expect, test } from 'vitest';
import { startServer } from '../src/start-server.js';

/** A command that behaves as far as the tests below look: banner, stderr, arguments, end on SIGTERM. */
const bannerOnly = (script: string) => [process.execPath, '-e', script, '--'];
const WELL_BEHAVED = `
  console.error(JSON.stringify(process.argv.slice(1)));
  process.on('SIGTERM', () => process.exit(0));
  setInterval(() => {}, 1000);
  console.log('ws://127.0.0.1:4711');
`;

test('gives the banner and ends by SIGTERM', async () => {
  const server = await startServer({ command: bannerOnly(WELL_BEHAVED) });
  expect(server.url).toBe('ws://127.0.0.1:4711');
  expect(server.port).toBe(4711);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  expect(JSON.parse(server.stderr())).toEqual(['--listen', 'ws://127.0.0.1:0']);
});

test('adds no listener to arguments that name one', async () => {
  const args = ['--listen', 'stdio', '--flag'];
  const server = await startServer({ command: bannerOnly(WELL_BEHAVED), args });
  await server.stop();
  expect(JSON.parse(server.stderr())).toEqual(args);
});

test('ends with its scope', async () => {
  let exited: Promise<unknown>;
  {
    await using server = await startServer({ command: bannerOnly(WELL_BEHAVED) });
    exited = server.exited;
  }
  expect(await exited).toEqual({ code: 0, signal: null });
});

test('tells the signal that ended it', async () => {
  const server = await startServer({ command: bannerOnly(WELL_BEHAVED) });
  server.kill('SIGKILL');
  expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' });
});

test('a command that ends before its banner is a failure with what it said', async () => {
  const command = bannerOnly(`console.error('no such flag'); process.exit(2)`);
  await expect(startServer({ command })).rejects.toThrow(/ended with 2 before its banner\nno such flag/);
});

test('a program that does not exist is a failure', async () => {
  await expect(startServer({ command: ['/nonexistent/exec-server'] })).rejects.toThrow(/ENOENT/);
});
