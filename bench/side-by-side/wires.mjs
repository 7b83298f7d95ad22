// The two ways to a server, as thin as they can be: a WebSocket over a bare socket, and lines over pipes.
//
// A long message that the client says it will only count is never put together: its first and last bytes are kept, the
// rest is stepped over. Otherwise the client's copying would be a part of what is measured.
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';

const SMALL_LENGTH = 126;
const MEDIUM_LENGTH = 65_536;
/** Bit of a frame's first byte: nothing of the message comes after it. */
const FINAL = 0x80;
const READ_BYTES = 256 * 1024;
/** Longest frame that either server takes. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
const TEXT = 0x01;
const CONTINUATION = 0x00;

/** Messages longer than this may be counted; shorter ones are always handed over whole. */
const COUNTED_FROM_BYTES = 2048;

/** How much of a counted message's beginning and end is kept. */
const HEAD_BYTES = 128;
const TAIL_BYTES = 256;

/** Opens a WebSocket at `ws://host:port`. */
export async function openWebSocketWire(url) {
  const { hostname, port } = new URL(url);
  const frames = new FrameReader();
  const upgrade = new Upgrade();
  const socket = connect({
    host: hostname,
    port: Number(port),
    noDelay: true,
    // One buffer for every read: nothing is allocated for bytes that are only counted.
    onread: {
      buffer: Buffer.allocUnsafe(READ_BYTES),
      callback: (bytes, buffer) => {
        const chunk = buffer.subarray(0, bytes);
        frames.push(upgrade.isDone ? chunk : upgrade.push(chunk));
        return true;
      },
    },
  });
  socket.on('error', (error) => upgrade.fail(error));
  socket.on('close', () => {
    upgrade.fail(new Error('the connection ended before it was a WebSocket'));
    frames.end();
  });
  const key = randomBytes(16).toString('base64');
  socket.write(
    `GET / HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  );
  await upgrade.done;
  frames.onPing = (payload) => socket.write(encodeFrame(Buffer.from(payload), 0x8a));
  return {
    send: (text) => socket.write(encodeFrame(Buffer.from(text))),
    sendPieces(pieces) {
      socket.cork();
      socket.write(encodeHead(pieces.reduce((sum, piece) => sum + piece.length, 0)));
      for (const piece of pieces) socket.write(piece);
      socket.uncork();
    },
    sendLong(message) {
      for (let start = 0; start < message.length; start += MAX_FRAME_BYTES) {
        const piece = message.subarray(start, start + MAX_FRAME_BYTES);
        const final = start + piece.length === message.length ? FINAL : 0;
        socket.write(encodeHead(piece.length, final | (start === 0 ? TEXT : CONTINUATION)));
        socket.write(piece);
      }
    },
    together(send) {
      socket.cork();
      send();
      socket.uncork();
    },
    receive: (receiver) => frames.receive(receiver),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.destroy(),
  };
}

/** The answer to the request for a WebSocket. */
class Upgrade {
  isDone = false;
  #text = '';
  #resolve;
  fail;
  done = new Promise((resolve, reject) => {
    this.#resolve = resolve;
    this.fail = reject;
  });

  /** Takes what was read and returns what comes after the answer. */
  push(chunk) {
    const before = this.#text.length;
    this.#text += chunk.toString('latin1');
    const end = this.#text.indexOf('\r\n\r\n');
    if (end < 0) return Buffer.alloc(0);
    this.isDone = true;
    if (this.#text.startsWith('HTTP/1.1 101')) this.#resolve();
    else this.fail(new Error(`upgrade refused: ${this.#text.slice(0, end)}`));
    return chunk.subarray(end + 4 - before);
  }
}

/** The head of a masked frame whose mask is zero: legal, and nothing to compute. */
function encodeHead(length, firstByte = 0x81, room = 0) {
  const lengthBytes = length < SMALL_LENGTH ? 0 : length < MEDIUM_LENGTH ? 2 : 8;
  const head = Buffer.alloc(2 + lengthBytes + 4 + room);
  head[0] = firstByte;
  head[1] = 0x80 | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) head.writeUInt16BE(length, 2);
  if (lengthBytes === 8) head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

function encodeFrame(payload, firstByte) {
  const frame = encodeHead(payload.length, firstByte, payload.length);
  payload.copy(frame, frame.length - payload.length);
  return frame;
}

/** One message on its way in: put together, or stepped over with its first and last bytes kept. */
class Arrival {
  #receiver;
  #binary;
  #pieces = [];
  #length = 0;
  /** Undefined until enough is there to decide. */
  #counted;
  #head;
  #tail = Buffer.alloc(0);

  constructor(receiver, binary) {
    this.#receiver = receiver;
    this.#binary = binary;
  }

  /** `piece` is only valid until the next read. */
  add(piece) {
    this.#length += piece.length;
    if (this.#counted === undefined && this.#length >= COUNTED_FROM_BYTES) this.#decide(piece);
    if (this.#counted) this.#keepTail(piece);
    else this.#pieces.push(Buffer.from(piece));
  }

  end() {
    if (this.#counted) this.#receiver.count(this.#head, this.#tail, this.#length);
    else this.#receiver.take(this.#join(), this.#binary);
  }

  #decide(piece) {
    const beginning = this.#pieces.length === 0 ? piece : Buffer.concat([this.#join(), piece]);
    const head = beginning.subarray(0, HEAD_BYTES);
    this.#counted = this.#receiver.counts(head, this.#binary);
    if (!this.#counted) return;
    this.#head = Buffer.from(head);
    this.#tail = this.#join();
    this.#pieces = [];
  }

  #keepTail(piece) {
    this.#tail = Buffer.from(
      piece.length >= TAIL_BYTES
        ? piece.subarray(-TAIL_BYTES)
        : Buffer.concat([this.#tail, piece]).subarray(-TAIL_BYTES),
    );
  }

  #join() {
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0];
  }
}

/** Cuts a stream of bytes into the messages of WebSocket frames. */
class FrameReader {
  onPing = () => {};
  #receiver;
  #early = [];
  #head = Buffer.alloc(0);
  #left = 0;
  /** The message whose frames come in, and what the present frame belongs to: that message, or a control frame. */
  #message;
  #arrival;
  #opcode;
  #isFinal;
  #ended = false;

  /** From now on messages go to `receiver`, those that are already there first. */
  receive(receiver) {
    this.#receiver = receiver;
    for (const chunk of this.#early) this.push(chunk);
    this.#early = [];
    if (this.#ended) receiver.ended();
  }

  /** No bytes come any more. */
  end() {
    this.#ended = true;
    this.#receiver?.ended();
  }

  push(chunk) {
    if (this.#receiver === undefined) {
      this.#early.push(Buffer.from(chunk));
      return;
    }
    let at = 0;
    while (at < chunk.length) {
      if (this.#left === 0) {
        at = this.#readHead(chunk, at);
        if (this.#left > 0 || this.#arrival === undefined) continue;
      } else {
        const piece = chunk.subarray(at, at + this.#left);
        this.#arrival.add(piece);
        this.#left -= piece.length;
        at += piece.length;
      }
      if (this.#left === 0) this.#end();
    }
  }

  /** Takes bytes of a frame's head and returns where its payload begins, or the end of the chunk. */
  #readHead(chunk, at) {
    const held = this.#head.length;
    const bytes =
      held === 0 ? chunk.subarray(at, at + 10) : Buffer.concat([this.#head, chunk.subarray(at, at + 10)]);
    const short = bytes[1] & 0x7f;
    const headBytes = bytes.length < 2 ? 2 : short === 126 ? 4 : short === 127 ? 10 : 2;
    if (bytes.length < headBytes) {
      this.#head = Buffer.from(bytes);
      return chunk.length;
    }
    this.#head = Buffer.alloc(0);
    this.#opcode = bytes[0] & 0x0f;
    this.#isFinal = bytes[0] >= FINAL;
    this.#left =
      short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
    this.#arrival = this.#findArrival();
    return at + headBytes - held;
  }

  #findArrival() {
    if (this.#opcode > 2) return new Arrival(this.#control, false);
    if (this.#opcode !== CONTINUATION) this.#message = new Arrival(this.#receiver, this.#opcode === 2);
    return this.#message;
  }

  #control = {
    counts: () => false,
    take: (payload) => {
      if (this.#opcode === 9) this.onPing(payload);
    },
  };

  #end() {
    const arrival = this.#arrival;
    this.#arrival = undefined;
    if (this.#isFinal) arrival.end();
  }
}

/** Speaks lines with a child process. */
export function openLineWire(child) {
  return {
    send: (text) => child.stdin.write(`${text}\n`),
    sendPieces(pieces) {
      child.stdin.cork();
      for (const piece of pieces) child.stdin.write(piece);
      child.stdin.write('\n');
      child.stdin.uncork();
    },
    receive(receiver) {
      const lines = new LineReader(receiver);
      child.stdout.on('data', (chunk) => lines.push(chunk));
      child.stdout.on('close', () => receiver.ended());
    },
    pause: () => child.stdout.pause(),
    resume: () => child.stdout.resume(),
    close: () => child.stdin.end(),
  };
}

class LineReader {
  #receiver;
  #arrival;

  constructor(receiver) {
    this.#receiver = receiver;
  }

  push(chunk) {
    let start = 0;
    while (start < chunk.length) {
      const end = chunk.indexOf(10, start);
      this.#arrival ??= new Arrival(this.#receiver, false);
      this.#arrival.add(chunk.subarray(start, end < 0 ? chunk.length : end));
      if (end < 0) return;
      start = end + 1;
      const arrival = this.#arrival;
      this.#arrival = undefined;
      arrival.end();
    }
  }
}
