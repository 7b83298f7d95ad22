import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createExecServer, loadAuthPolicy } from '@exec-server/server';
import { expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../command-support.js';
import { FakeIo } from '../support.js';

const TOKEN_SHA256 = '3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0';

it('a server that wants a token gets it from the environment, and the lack of one is explained', async () => {
  const server = createExecServer();
  onTestFinished(() => server.close());
  const auth = loadAuthPolicy({ mode: 'capability-token', tokenSha256: TOKEN_SHA256 });
  const { url } = await server.listen('ws://127.0.0.1:0', auth === undefined ? {} : { auth });
  const refused = await runCommand(['ps', '--connect', url]);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain(
    'The server wants a token: give --token-file FILE or set EXEC_SERVER_TOKEN.',
  );
  const io = new FakeIo();
  io.env.EXEC_SERVER_TOKEN = 'token';
  io.env.EXEC_SERVER_URL = url;
  expect(await runCommand(['ps', '--quiet'], io)).toEqual({ code: 0, stdout: '', stderr: '' });
});

it('a server that is not there is told with how to start one; 125 where 1 could be the command', async () => {
  const hint = 'Is a server running there? One is started by: exec-server --listen unix:///nope/x\n';
  const ps = await runCommand(['ps', '--connect', 'unix:///nope/x']);
  expect(ps).toMatchObject({ code: 1, stderr: expect.stringContaining(hint) });
  const run = await runCommand(['run', '--connect', 'unix:///nope/x', 'true']);
  expect(run).toMatchObject({ code: 125, stderr: expect.stringContaining(hint) });
});

it('what answers otherwise than an exec-server is said to be something else', async () => {
  const web = createServer((_, response) => response.writeHead(404).end());
  web.on('upgrade', (_, socket) => socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'));
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void web.close());
  const { port } = web.address() as AddressInfo;
  const { stderr } = await runCommand(['ps', '--connect', `ws://127.0.0.1:${port}`]);
  expect(stderr).toContain('Something else than an exec-server answers there.');
});
