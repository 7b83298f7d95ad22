import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';

/** Two ends of a real TCP connection over loopback. */
export interface SocketPair {
  readonly near: Socket;
  readonly far: Socket;
  close(): Promise<void>;
}

/** `near` is the server's end, `far` the client's, which may end its output and read on. */
export async function connectSockets(options: { allowHalfOpen?: boolean } = {}): Promise<SocketPair> {
  const server = createServer({ allowHalfOpen: options.allowHalfOpen ?? false });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const far = createConnection({ port, host: '127.0.0.1', allowHalfOpen: true });
  const [[near]] = (await Promise.all([once(server, 'connection'), once(far, 'connect')])) as [
    [Socket],
    unknown[],
  ];
  return {
    near,
    far,
    async close() {
      near.destroy();
      far.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Everything a socket receives until its other end has sent the last byte. */
export async function readAll(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
