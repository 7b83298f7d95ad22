// Compares OutputEncoder with base64 and JSON.stringify, both ending in one buffer. Run after the build:
//   node bench/output-encoder.mjs
import { randomBytes } from 'node:crypto';
import { OutputEncoder } from '@exec-server/rpc/node';

const ROUNDS = 7;
const CHUNK_BYTES = [64, 4 * 1024, 64 * 1024, 1024 * 1024];
const BYTES_PER_ROUND = 256 * 1024 * 1024;
const MAX_CALLS_PER_ROUND = 200_000;

const encoder = new OutputEncoder('process/output', 'bench-1');

const candidates = {
  spliced: (seq, chunk) => encoder.encode(seq, 'stdout', chunk),
  stringified: (seq, chunk) => {
    const params = { processId: 'bench-1', seq, stream: 'stdout', chunk: chunk.toString('base64') };
    return Buffer.from(`${JSON.stringify({ method: 'process/output', params })}\n`);
  },
};

function microsecondsPerCall(encode, chunk) {
  const calls = Math.min(MAX_CALLS_PER_ROUND, Math.max(1, Math.floor(BYTES_PER_ROUND / chunk.length)));
  const started = process.hrtime.bigint();
  for (let seq = 1; seq <= calls; seq++) encode(seq, chunk);
  return Number(process.hrtime.bigint() - started) / 1000 / calls;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

for (const bytes of CHUNK_BYTES) {
  const chunk = randomBytes(bytes);
  const times = { spliced: [], stringified: [] };
  // Rounds alternate, so that a slow moment of the machine hits both.
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, encode] of Object.entries(candidates))
      times[name].push(microsecondsPerCall(encode, chunk));
  }
  const spliced = median(times.spliced);
  const stringified = median(times.stringified);
  const ratio = (stringified / spliced).toFixed(1);
  console.log(`${bytes} B: ${spliced.toFixed(2)} us against ${stringified.toFixed(2)} us, ${ratio}x`);
}
