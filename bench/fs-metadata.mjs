// Compares fs/getMetadata on the thread pool with `lstatSync` on the event loop. Run after the build:
//   node bench/fs-metadata.mjs
import { lstatSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExecServer } from '@exec-server/server';
import { openInProcessWire } from '@exec-server/testing';

const ROUNDS = 7;
const CALLS_PER_ROUND = 5_000;
const IN_FLIGHT = 16;

const directory = mkdtempSync(join(tmpdir(), 'fs-metadata-'));
const file = join(directory, 'file');
writeFileSync(file, 'content');
const path = Buffer.from(file);

const server = createExecServer();
const wire = openInProcessWire(server);
await wire.request('initialize', { clientName: 'bench' });
wire.send({ method: 'initialized' });

const candidates = {
  'lstatSync alone': () => lstatSync(path, { bigint: true }),
  'lstat on the pool alone': () => lstat(path, { bigint: true }),
  'a whole fs/getMetadata': () => wire.request('fs/getMetadata', { path: `file://${file}` }),
  'a whole request that touches no file': () => wire.request('environment/status', {}),
};

async function microsecondsPerCall(call, inFlight) {
  const started = process.hrtime.bigint();
  const work = async () => {
    for (let calls = 0; calls < CALLS_PER_ROUND / inFlight; calls++) await call();
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return Number(process.hrtime.bigint() - started) / 1000 / CALLS_PER_ROUND;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

for (const inFlight of [1, IN_FLIGHT]) {
  const times = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
  // Rounds alternate, so that a slow moment of the machine hits all.
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, call] of Object.entries(candidates))
      times[name].push(await microsecondsPerCall(call, inFlight));
  }
  const whole = median(times['a whole fs/getMetadata']);
  console.log(`${inFlight} in flight:`);
  for (const [name, values] of Object.entries(times)) {
    const ratio = (median(values) / whole).toFixed(2);
    console.log(`  ${name}: ${median(values).toFixed(1)} us, ${ratio} of a whole fs/getMetadata`);
  }
}

await wire.close();
await server.close();
rmSync(directory, { recursive: true });
