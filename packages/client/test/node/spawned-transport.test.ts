import { expect, test } from 'vitest';
import { SpawnedServer } from '../../src/node/spawned-server.js';
import { createSpawnedTransport } from '../../src/node/spawned-transport.js';

test('a connection that nobody has opened takes its server with it', async () => {
  const server = await SpawnedServer.start({ command: ['/bin/sh', '-c', 'while :; do sleep 600; done'] });
  expect(await server.describeEnd()).toBeUndefined();
  createSpawnedTransport(server).destroy('given up');
  await server.exited;
  expect(await server.describeEnd()).toBe('the server ended by SIGTERM');
});
