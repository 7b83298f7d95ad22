import WebSocket from 'ws'; // built in from Node 22 on, and in browsers

const argv = ['sh', '-c', 'echo hello from the other side'];
const command = { processId: 'p1', argv, cwd: 'file:///tmp', env: { PATH: '/usr/bin:/bin' }, tty: false };

const socket = new WebSocket(process.argv[2] ?? 'ws://127.0.0.1:7711');
const send = (message) => socket.send(JSON.stringify(message));
socket.onopen = () => send({ id: 1, method: 'initialize', params: { clientName: 'example' } });
socket.onmessage = ({ data }) => {
  const { id, error, method, params } = JSON.parse(data);
  if (error) throw new Error(error.message);
  if (id === 1) {
    send({ method: 'initialized' });
    send({ id: 2, method: 'process/start', params: command });
  }
  if (method === 'process/output') process.stdout.write(Buffer.from(params.chunk, 'base64'));
  if (method === 'process/exited') console.log(`exit code ${params.exitCode}`);
  if (method === 'process/closed') socket.close();
};
