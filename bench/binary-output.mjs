// Compares output as binary frames with output as JSON notifications: what the server spends on a chunk to write it, and
// what a client spends until it has the bytes. Run after the build:
//   node bench/binary-output.mjs
import { randomBytes } from 'node:crypto';
import {
  decodeBase64,
  decodeMessage,
  decodeOutputFrame,
  decodeResult,
  OutputFrameEncoder,
  ProcessOutputNotification,
} from '@exec-server/protocol';
import { OutputEncoder } from '@exec-server/rpc/node';

const ROUNDS = 7;
const CHUNK_BYTES = [4 * 1024, 64 * 1024];
const BYTES_PER_ROUND = 64 * 1024 * 1024;

const lines = new OutputEncoder('process/output', 'bench-1');
const frames = new OutputFrameEncoder('bench-1');

const candidates = {
  'encode JSON': (chunk, seq) => lines.encode(seq, 'stdout', chunk),
  'encode binary': (chunk, seq) => frames.encode(seq, 'stdout', chunk),
  'decode JSON': (_chunk, _seq, { text }) => {
    const { params } = decodeMessage(text.toString());
    return decodeBase64(decodeResult(ProcessOutputNotification, params).chunk);
  },
  'decode binary': (_chunk, _seq, { frame }) => decodeOutputFrame(frame).data,
};

function microsecondsPerCall(run, chunk) {
  const calls = Math.floor(BYTES_PER_ROUND / chunk.length);
  const encoded = { text: lines.encode(1, 'stdout', chunk), frame: frames.encode(1, 'stdout', chunk) };
  const started = process.hrtime.bigint();
  for (let seq = 1; seq <= calls; seq++) run(chunk, seq, encoded);
  return Number(process.hrtime.bigint() - started) / 1000 / calls;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

for (const bytes of CHUNK_BYTES) {
  const chunk = randomBytes(bytes);
  const times = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
  // Rounds alternate, so that a slow moment of the machine hits all.
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, run] of Object.entries(candidates)) times[name].push(microsecondsPerCall(run, chunk));
  }
  for (const step of ['encode', 'decode']) {
    const json = median(times[`${step} JSON`]);
    const binary = median(times[`${step} binary`]);
    const ratio = (json / binary).toFixed(1);
    console.log(
      `${bytes} B ${step}: ${json.toFixed(2)} us as JSON, ${binary.toFixed(2)} us binary, ${ratio}x`,
    );
  }
  const sizes = [lines.encode(1, 'stdout', chunk).length - 1, frames.encode(1, 'stdout', chunk).length];
  console.log(`${bytes} B on the wire: ${sizes[0]} B as JSON, ${sizes[1]} B binary`);
}
