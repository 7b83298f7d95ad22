// Answers the bench's client over a bare socket or pipe, with nothing behind it: what is left of a server without the
// server. `echo` is answered, `stream` sends so many bytes in messages of one size that are made once.
import { Buffer } from 'node:buffer';
import { createServer } from 'node:net';

const END_OF_HEAD = '\r\n\r\n';
const MASK_BYTES = 4;
const TEXT = 0x81;
const BINARY = 0x82;

if (process.argv.at(-1) === 'stdio') {
  const encode = (payload) => Buffer.concat([payload, Buffer.from('\n')]);
  serve(process.stdin, process.stdout, takeLines, encode);
} else {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade${END_OF_HEAD}`,
      );
      serve(socket, socket, takeFrames, encodeFrame);
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(`ws://127.0.0.1:${server.address().port}`));
}

function serve(input, output, takeMessages, encode) {
  let rest = Buffer.alloc(0);
  const answer = (id) => output.write(encode(Buffer.from(`{"id":${id},"result":{}}`), TEXT));
  input.on('data', (chunk) => {
    const taken = takeMessages(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]));
    rest = taken.rest;
    for (const message of taken.messages) {
      const { id, method, params } = JSON.parse(message);
      if (method === 'stream') void stream(output, encode, params).then(() => answer(id));
      else if (id !== undefined) answer(id);
    }
  });
}

/** Sends `bytes` of output in messages of `messageBytes`, as base64 or as binary frames. */
async function stream(output, encode, { bytes, messageBytes, binary }) {
  const message = binary
    ? encode(Buffer.alloc(messageBytes, 1), BINARY)
    : encode(
        Buffer.from(
          `{"method":"process/output","params":"${Buffer.alloc(messageBytes).toString('base64')}"}`,
        ),
        TEXT,
      );
  for (let left = bytes; left > 0; left -= messageBytes)
    if (!output.write(message)) await new Promise((resolve) => output.once('drain', resolve));
}

function takeLines(bytes) {
  const messages = [];
  let start = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    messages.push(bytes.toString('utf8', start, end));
    start = end + 1;
  }
  return { messages, rest: bytes.subarray(start) };
}

/** Frames of fewer than 64 KiB whose mask is zero, as the bench's client sends them. */
function takeFrames(bytes) {
  const messages = [];
  let start = 0;
  for (;;) {
    const medium = (bytes[start + 1] & 0x7f) === 126;
    const payloadAt = start + 2 + (medium ? 2 : 0) + MASK_BYTES;
    if (bytes.length < payloadAt) return { messages, rest: bytes.subarray(start) };
    const end = payloadAt + (medium ? bytes.readUInt16BE(start + 2) : bytes[start + 1] & 0x7f);
    if (bytes.length < end) return { messages, rest: bytes.subarray(start) };
    messages.push(bytes.toString('utf8', payloadAt, end));
    start = end;
  }
}

function encodeFrame(payload, firstByte) {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = firstByte;
  head[1] = head.length === 2 ? length : head.length === 4 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}
