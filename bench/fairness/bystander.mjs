// A client that does nothing but ask one server whether it is there, in a process of its own, so that nothing but the
// server and the machine delays it. `begin` starts a measurement, `end` answers with the times since.
import { LeanClient } from '../side-by-side/lean-client.mjs';
import { openWebSocketWire } from '../side-by-side/wires.mjs';

/** Time between an answer and the next question. */
const PAUSE_MS = 2;

const client = new LeanClient(await openWebSocketWire(process.argv[2]));
await client.initialize();
let times = [];
let ended = false;

process.on('message', (order) => {
  if (order === 'begin') times = [];
  else ended = true;
});
process.on('disconnect', () => process.exit());
process.send('ready');

while (true) {
  const askedAt = performance.now();
  await client.call('environment/status', {}).catch(() => process.exit());
  times.push(performance.now() - askedAt);
  if (ended) {
    ended = false;
    process.send(times);
  }
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
