// Compares output as binary frames with output as JSON notifications: what the server spends on a chunk to write it, and
// what the client library spends until it has the bytes. Run after the build:
//   node bench/binary-output.mjs
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import {
  decodeBase64,
  decodeMessage,
  decodeOutputFrame,
  decodeResult,
  OutputFrameEncoder,
  ProcessOutputNotification,
} from '@exec-server/protocol';
import { OutputEncoder } from '@exec-server/rpc/node';

const ROUNDS = 5;
const CHUNK_BYTES = [4 * 1024, 64 * 1024];
const BYTES_PER_ROUND = 64 * 1024 * 1024;

const lines = new OutputEncoder('process/output', 'bench-1');
const frames = new OutputFrameEncoder('bench-1');

/** Each makes the function that is measured. */
const candidates = {
  'encode json': (chunk) => (seq) => lines.encode(seq, 'stdout', chunk),
  'encode binary': (chunk) => (seq) => frames.encode(seq, 'stdout', chunk),
  'decode json': (chunk) => {
    const line = lines.encode(1, 'stdout', chunk);
    return () => {
      const { params } = decodeMessage(line.toString());
      return decodeBase64(decodeResult(ProcessOutputNotification, params).chunk);
    };
  },
  'decode binary': (chunk) => {
    const frame = frames.encode(1, 'stdout', chunk);
    return () => decodeOutputFrame(frame).data;
  },
};

function microsecondsPerCall(name, bytes) {
  const run = candidates[name](randomBytes(bytes));
  const calls = Math.floor(BYTES_PER_ROUND / bytes);
  for (let seq = 1; seq <= calls / 10; seq++) run(seq);
  const started = process.cpuUsage();
  for (let seq = 1; seq <= calls; seq++) run(seq);
  const { user, system } = process.cpuUsage(started);
  return (user + system) / calls;
}

/** In a process of its own: the garbage of one candidate would be collected at the expense of another. */
function measureApart(name, bytes) {
  const self = fileURLToPath(import.meta.url);
  return Number(execFileSync(process.execPath, [self, name, String(bytes)], { encoding: 'utf8' }));
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function compareAll() {
  for (const bytes of CHUNK_BYTES) {
    for (const step of ['encode', 'decode']) {
      const times = { json: [], binary: [] };
      // Rounds alternate, so that a slow moment of the machine hits both.
      for (let round = 0; round < ROUNDS; round++) {
        for (const form of ['json', 'binary']) times[form].push(measureApart(`${step} ${form}`, bytes));
      }
      const [json, binary] = [median(times.json), median(times.binary)];
      const ratio = (json / binary).toFixed(1);
      console.log(
        `${bytes} B ${step}: ${json.toFixed(1)} us as JSON, ${binary.toFixed(1)} us binary, ${ratio}x`,
      );
    }
    const chunk = randomBytes(bytes);
    const onTheWire = [lines.encode(1, 'stdout', chunk).length - 1, frames.encode(1, 'stdout', chunk).length];
    console.log(`${bytes} B on the wire: ${onTheWire[0]} B as JSON, ${onTheWire[1]} B binary`);
  }
}

const [name, bytes] = process.argv.slice(2);
if (name === undefined) compareAll();
else console.log(microsecondsPerCall(name, Number(bytes)));
