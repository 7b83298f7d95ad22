import { connect } from '@exec-server/client';
import { createExecServer } from '@exec-server/server';

const server = createExecServer();
try {
  // No socket, no serialisation of output: the same client, the same server.
  await using machine = await connect(server);
  console.log((await machine.run(['echo', 'from the same process'])).stdout.trimmed());
} finally {
  await server.close();
}
