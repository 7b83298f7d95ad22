// The two ways to a server, as thin as they can be: a WebSocket over a bare socket, and lines over pipes.
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';

const SMALL_LENGTH = 126;
const MEDIUM_LENGTH = 65_536;

/** Opens a WebSocket at `ws://host:port`. */
export async function openWebSocketWire(url) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  const key = randomBytes(16).toString('base64');
  socket.write(
    `GET / HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  );
  const rest = await readUpgrade(socket);
  const frames = new FrameReader();
  return {
    send: (text) => socket.write(encodeFrame(Buffer.from(text))),
    onMessage(take) {
      frames.onMessage = take;
      frames.onPing = (payload) => socket.write(encodeFrame(payload, 0x8a));
      frames.push(rest);
      socket.on('data', (chunk) => frames.push(chunk));
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.destroy(),
  };
}

async function readUpgrade(socket) {
  let head = Buffer.alloc(0);
  for (;;) {
    const chunk = await new Promise((resolve, reject) => {
      socket.once('data', resolve);
      socket.once('error', reject);
    });
    socket.pause();
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) {
      socket.resume();
      continue;
    }
    if (!head.toString('latin1', 0, end).startsWith('HTTP/1.1 101'))
      throw new Error(`upgrade refused: ${head.toString('latin1', 0, end)}`);
    socket.resume();
    return head.subarray(end + 4);
  }
}

/** A masked frame whose mask is zero: legal, and nothing to compute. */
function encodeFrame(payload, firstByte = 0x81) {
  const { length } = payload;
  const lengthBytes = length < SMALL_LENGTH ? 0 : length < MEDIUM_LENGTH ? 2 : 8;
  const frame = Buffer.alloc(2 + lengthBytes + 4 + length);
  frame[0] = firstByte;
  frame[1] = 0x80 | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) frame.writeUInt16BE(length, 2);
  if (lengthBytes === 8) frame.writeBigUInt64BE(BigInt(length), 2);
  payload.copy(frame, 2 + lengthBytes + 4);
  return frame;
}

/** Cuts a stream of bytes into messages. Only the pieces of one message are ever joined. */
class FrameReader {
  onMessage = () => {};
  onPing = () => {};
  #pieces = [];
  #bytes = 0;
  #needed = 2;

  push(chunk) {
    if (chunk.length === 0) return;
    this.#pieces.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes >= this.#needed && this.#cut());
  }

  #cut() {
    const buffer = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces);
    this.#pieces = [buffer];
    const short = buffer[1] & 0x7f;
    const headBytes = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (buffer.length < headBytes) return this.#wantAtLeast(headBytes);
    const length =
      short === 126 ? buffer.readUInt16BE(2) : short === 127 ? Number(buffer.readBigUInt64BE(2)) : short;
    if (buffer.length < headBytes + length) return this.#wantAtLeast(headBytes + length);
    const payload = buffer.subarray(headBytes, headBytes + length);
    const rest = buffer.subarray(headBytes + length);
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    this.#needed = 2;
    const opcode = buffer[0] & 0x0f;
    if (opcode === 9) this.onPing(payload);
    else if (opcode === 1 || opcode === 2) this.onMessage(payload, opcode === 2);
    return true;
  }

  #wantAtLeast(bytes) {
    this.#needed = bytes;
    return false;
  }
}

/** Speaks lines with a child process. */
export function openLineWire(child) {
  const lines = new LineReader();
  return {
    send: (text) => child.stdin.write(`${text}\n`),
    onMessage(take) {
      lines.onMessage = take;
      child.stdout.on('data', (chunk) => lines.push(chunk));
    },
    pause: () => child.stdout.pause(),
    resume: () => child.stdout.resume(),
    close: () => child.stdin.end(),
  };
}

class LineReader {
  onMessage = () => {};
  #pieces = [];

  push(chunk) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const last = chunk.subarray(start, end);
      start = end + 1;
      const line = this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last]);
      this.#pieces = [];
      this.onMessage(line, false);
    }
    if (start < chunk.length) this.#pieces.push(chunk.subarray(start));
  }
}
