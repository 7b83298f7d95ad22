import { spawnSync } from 'node:child_process';
import { closeSync } from 'node:fs';
import { createServer } from 'node:net';
import { requireProgram } from '@exec-server/testing';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { openDescriptorDoor } from '../../src/native/descriptor-door.js';
import { OsError } from '../../src/os-error.js';

/** Binds sockets and hands them over through descriptor 3. */
const HAND_OVER = `
import array, socket, sys
door = socket.socket(fileno=3)
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for each in sockets:
    each.bind(('127.0.0.1', 0))
    each.listen()
rights = array.array('i', [each.fileno() for each in sockets])
door.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if sockets else [])
print(*[each.getsockname()[1] for each in sockets])
`;

function handOver(fd: number, count: number): number[] {
  const { stdout } = spawnSync('python3', ['-c', HAND_OVER, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit', fd],
  });
  return stdout.toString().trim().split(' ').filter(Boolean).map(Number);
}

beforeEach((test) => requireProgram('python3', test));

it.each([1, 2, 3])('takes %i sockets of a child that has ended since', async (count) => {
  const door = openDescriptorDoor();
  onTestFinished(() => door.close());
  const ports = handOver(door.fd, count);
  const descriptors = door.receive(count);
  expect(descriptors).toHaveLength(count);
  for (const [index, fd] of descriptors.entries()) {
    const server = createServer().listen({ fd });
    await new Promise((resolve) => server.once('listening', resolve));
    expect(server.address()).toMatchObject({ port: ports[index] });
    server.close();
  }
});

it('keeps only as many as were asked for', () => {
  const door = openDescriptorDoor();
  onTestFinished(() => door.close());
  handOver(door.fd, 4);
  const descriptors = door.receive(2);
  expect(descriptors).toHaveLength(2);
  for (const fd of descriptors) closeSync(fd);
});

it('says that nothing has come, or only words', () => {
  const door = openDescriptorDoor();
  onTestFinished(() => door.close());
  expect(() => door.receive(1)).toThrow(OsError);
  handOver(door.fd, 0);
  expect(door.receive(1)).toEqual([]);
});
