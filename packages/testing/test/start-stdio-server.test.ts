import { expect, test } from 'vitest';
import { startStdioServer } from '../src/start-stdio-server.js';

const ECHO = `
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    console.log(JSON.stringify({ id, result: { method, args: process.argv.slice(1) } }));
  });
`;
const command = [process.execPath, '-e', ECHO, '--'];

test('talks in lines and ends with its input', async () => {
  await using server = startStdioServer({ command });
  expect((await server.request('ping')).result).toEqual({ method: 'ping', args: ['--listen', 'stdio'] });
  server.endInput();
  expect(await server.exited).toEqual({ code: 0, signal: null });
});

test('raw bytes are not touched', async () => {
  await using server = startStdioServer({ command });
  server.sendRaw('{"id":"x","met');
  server.sendRaw('hod":"split"}\n');
  const answer = await server.next(({ id }) => id === 'x', 'the answer to x');
  expect(answer.result).toMatchObject({ method: 'split' });
});

test('a server that dies fails those who wait, with what it said', async () => {
  const dying = [process.execPath, '-e', `console.error('out of luck'); process.exit(3)`, '--'];
  await using server = startStdioServer({ command: dying });
  await expect(server.request('ping')).rejects.toThrow(/ended with 3\nout of luck/);
});
