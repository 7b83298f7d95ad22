import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { MessageLimit } from '../../src/message-limit.js';
import { MessageReader } from '../../src/node/message-reader.js';
import type { KeptBytes } from '../../src/transport.js';
import { BINARY, encodeClientFrame, PING, TEXT, textFrame, ZERO_KEY } from '../support/client-frames.js';

const KIB = 1024;
const READ_BYTES = 256 * KIB;
const MAX_MESSAGE_BYTES = 16 * KIB * KIB;
const NO_KEY = new Uint8Array();
const BEGIN = 0x01;
const MIDDLE = 0x00;
const END = 0x80;

class Recorder {
  readonly delivered: string[] = [];
  readonly passedOn: Buffer[] = [];
  readonly refused: string[] = [];
  readonly held: number[] = [];
  isReady = true;
  onDeliver: (message: Buffer) => void = () => {};
  wantsMore = true;
  readonly reader: MessageReader;

  constructor(limit: MessageLimit = { bytes: MAX_MESSAGE_BYTES }) {
    this.reader = new MessageReader(limit, {
      isReady: () => this.isReady,
      deliver: (message, isBinary) => {
        this.onDeliver(message);
        this.take(message.toString('utf8'), isBinary);
      },
      passOn: (bytes) => {
        this.passedOn.push(bytes);
        return this.wantsMore;
      },
      refuse: ({ message }) => this.refused.push(message),
    });
    this.reader.onHeld = () => this.held.push(this.reader.heldBytes);
  }

  take(text: string, isBinary: boolean): void {
    this.delivered.push(isBinary ? `binary ${text}` : text);
  }

  /** As a socket does: as much as there is room for at a time. Returns the last answer. */
  read(bytes: Uint8Array): boolean {
    let wantsMore = true;
    for (let at = 0; at < bytes.length; ) {
      const room = this.reader.makeRoom();
      const piece = bytes.subarray(at, at + room.length);
      room.set(piece);
      wantsMore = this.reader.receive(piece.length);
      at += piece.length;
    }
    return wantsMore;
  }

  /** As one that has its own memory. */
  push(bytes: Uint8Array): boolean {
    return this.reader.push(Buffer.from(bytes));
  }

  get passed(): Buffer {
    return Buffer.concat(this.passedOn);
  }
}

const ping = encodeClientFrame({ first: PING, payload: Buffer.from('p') });
const fragments = (...texts: string[]) =>
  texts.map((text, index) => {
    const first = index === 0 ? BEGIN : index === texts.length - 1 ? END : MIDDLE;
    return encodeClientFrame({ first, payload: Buffer.from(text) });
  });

describe.each(['read', 'push'] as const)('messages that come by %s', (way) => {
  it.each([0, 1, 125, 126, 0xffff, 0x1_0000, READ_BYTES - 15, READ_BYTES - 14, READ_BYTES - 13, 3_000_000])(
    'of %i bytes are delivered, two in a row',
    (length) => {
      const recorder = new Recorder();
      const [first, second] = ['a'.repeat(length), 'b'.repeat(length)];
      recorder[way](Buffer.concat([textFrame(first, ZERO_KEY), textFrame(second, ZERO_KEY)]));
      expect(recorder.delivered.map((text) => text.length)).toEqual([length, length]);
      expect(recorder.delivered).toEqual([first, second]);
      expect(recorder.passedOn).toEqual([]);
      expect(recorder.reader.heldBytes).toBe(0);
    },
  );

  it('are delivered with what they are: text, binary, in one frame or several', () => {
    const recorder = new Recorder();
    recorder[way](encodeClientFrame({ first: BINARY, payload: Buffer.from('1') }));
    for (const frame of fragments('2', '', '3', '4')) recorder[way](frame);
    recorder[way](encodeClientFrame({ first: 0x02, payload: Buffer.from('5') }));
    recorder[way](encodeClientFrame({ first: END, payload: Buffer.from('') }));
    expect(recorder.delivered).toEqual(['binary 1', '234', 'binary 5']);
    expect(recorder.passedOn).toEqual([]);
  });

  it('arrive the same however they are cut', () => {
    const texts = ['', 'é', 'x'.repeat(200), 'y'.repeat(70_000), 'begin middle end', 'last'];
    const frames = [
      ...texts.slice(0, 4).map((text) => textFrame(text)),
      ...fragments('begin', ' middle', ' end'),
      ping,
      textFrame('last'),
    ];
    const bytes = Buffer.concat(frames);
    const cuts = fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 });
    const headCuts = fc.array(fc.nat({ max: 40 }), { maxLength: 6 });
    fc.assert(
      fc.property(cuts, headCuts, (anywhere, early) => {
        const recorder = new Recorder();
        const ends = [...anywhere, ...early, bytes.length].sort((a, b) => a - b);
        let start = 0;
        for (const end of ends) {
          recorder[way](bytes.subarray(start, end));
          start = end;
        }
        expect(recorder.delivered).toEqual(texts);
        expect(recorder.passed).toEqual(ping);
        expect(recorder.reader.heldBytes).toBe(0);
      }),
    );
  });

  it.each([
    [99, true],
    [100, true],
    [101, false],
  ])('of %i bytes are delivered where 100 are allowed: %s', (length, isDelivered) => {
    const whole = textFrame('x'.repeat(length));
    const inTwo = Buffer.concat(fragments('x'.repeat(60), 'x'.repeat(length - 60)));
    for (const bytes of [whole, inTwo]) {
      const recorder = new Recorder({ bytes: 100, condition: 'today' });
      recorder[way](Buffer.concat([bytes, textFrame('next'), ping]));
      expect(recorder.delivered).toEqual(isDelivered ? ['x'.repeat(length), 'next'] : []);
      expect(recorder.refused).toEqual(isDelivered ? [] : ['message exceeds the limit of 100 bytes today']);
      // Nothing is read behind a message that is refused.
      expect(recorder.passed).toEqual(isDelivered ? ping : Buffer.alloc(0));
    }
  });

  it('may be longer from one on that had the limit changed', () => {
    const recorder = new Recorder();
    recorder.reader.limitMessages({ bytes: 5 });
    recorder.take = (text) => {
      recorder.delivered.push(text);
      if (text === 'open') recorder.reader.limitMessages();
    };
    recorder[way](Buffer.concat([textFrame('12345'), textFrame('open'), textFrame('123456')]));
    expect(recorder.delivered).toEqual(['12345', 'open', '123456']);
  });

  it('that are no UTF-8 are passed on as one that is none, and nothing after them', () => {
    const recorder = new Recorder();
    recorder[way](Buffer.concat([textFrame(Uint8Array.of(0x61, 0xff)), textFrame('after')]));
    expect(recorder.delivered).toEqual([]);
    expect(recorder.passed).toEqual(textFrame(Uint8Array.of(0xff), ZERO_KEY));
  });

  it('wait while they may not be delivered, and come in order afterwards', () => {
    const recorder = new Recorder();
    recorder.take = (text) => {
      recorder.delivered.push(text);
      recorder.isReady = text !== 'wait';
    };
    const rest = Buffer.concat([textFrame('1'), ping, textFrame('2'), textFrame('wait'), textFrame('3')]);
    recorder[way](Buffer.concat([textFrame('wait'), rest]));
    expect(recorder.delivered).toEqual(['wait']);
    expect(recorder.reader.heldBytes).toBe(rest.length);
    recorder.reader.proceed();
    expect(recorder.delivered).toEqual(['wait']);
    recorder.isReady = true;
    recorder.reader.proceed();
    expect(recorder.delivered).toEqual(['wait', '1', '2', 'wait']);
    expect(recorder.passed).toEqual(ping);
    recorder.isReady = true;
    recorder[way](textFrame('4'));
    recorder.reader.proceed();
    expect(recorder.delivered).toEqual(['wait', '1', '2', 'wait', '3', '4']);
    expect(recorder.held).toEqual([rest.length, 0, textFrame('3').length, textFrame('34').length * 2 - 2, 0]);
  });
});

describe('memory for a message', () => {
  const announce = (length: number) => textFrame(Buffer.alloc(length), ZERO_KEY).subarray(0, 14);

  it('is none for its mere announcement', () => {
    const recorder = new Recorder();
    recorder.read(announce(MAX_MESSAGE_BYTES));
    expect(recorder.reader.heldBytes).toBe(0);
  });

  it.each([
    [1, 4096],
    [512, 4096],
    [513, 8 * 513],
    [100_000, 800_000],
  ])('is for its first %i bytes %i, and twice as much when that is full', (length, capacity) => {
    const recorder = new Recorder();
    recorder.read(Buffer.concat([announce(MAX_MESSAGE_BYTES), Buffer.alloc(length)]));
    expect(recorder.reader.heldBytes).toBe(capacity);
    recorder.read(Buffer.alloc(capacity - length));
    expect(recorder.reader.heldBytes).toBe(capacity);
    recorder.read(Buffer.alloc(1));
    expect(recorder.reader.heldBytes).toBe(2 * capacity);
  });

  it('is never more than the message is long', () => {
    const recorder = new Recorder();
    recorder.read(Buffer.concat([announce(70_000), Buffer.alloc(69_999)]));
    expect(recorder.reader.heldBytes).toBe(70_000);
  });

  it.each(['read', 'push'] as const)('is let go of with what follows, but for control frames (%s)', (way) => {
    const recorder = new Recorder();
    recorder[way](Buffer.concat([announce(100_000), Buffer.alloc(50_000)]));
    recorder.reader.drop();
    expect(recorder.reader.heldBytes).toBe(0);
    const close = encodeClientFrame({ first: 0x88, payload: Buffer.from([0x03, 0xe8]) });
    const rest = [Buffer.alloc(50_000), ping, textFrame('lost'), ...fragments('lost', 'too'), close, ping];
    recorder[way](Buffer.concat(rest));
    expect(recorder.delivered).toEqual([]);
    expect(recorder.passed).toEqual(Buffer.concat([ping, close]));
    expect(recorder.held.at(-1)).toBe(0);
  });

  it('is let go of with what waits, but for control frames', () => {
    const recorder = new Recorder();
    recorder.isReady = false;
    recorder.read(Buffer.concat([textFrame('lost'), ping, textFrame('lost').subarray(0, 3)]));
    recorder.reader.drop();
    recorder.read(Buffer.concat([textFrame('lost').subarray(3), ping]));
    expect(recorder.delivered).toEqual([]);
    expect(recorder.passed).toEqual(Buffer.concat([ping, ping]));
  });

  it('is not used again while somebody may still read into it', () => {
    const recorder = new Recorder();
    recorder.read(Buffer.concat([announce(100_000), Buffer.alloc(50_000)]));
    const room = recorder.reader.makeRoom();
    recorder.reader.drop();
    const other = new Recorder();
    other.read(Buffer.concat([announce(100_000), Buffer.alloc(50_000)]));
    expect(other.reader.makeRoom().buffer).not.toBe(room.buffer);
    recorder.reader.dispose();
  });
});

describe('passed on as they are', () => {
  test('pings, also between the frames of a message', () => {
    const recorder = new Recorder();
    const [begin, end] = fragments('around', ' it') as [Buffer, Buffer];
    recorder.read(Buffer.concat([ping, begin, ping, end, textFrame('after')]));
    expect(recorder.passed).toEqual(Buffer.concat([ping, ping]));
    expect(recorder.delivered).toEqual(['around it', 'after']);
  });

  test('a close frame, and nothing after it', () => {
    const recorder = new Recorder();
    const close = encodeClientFrame({ first: 0x88, payload: Buffer.alloc(0) });
    recorder.read(Buffer.concat([textFrame('before'), close, textFrame('after'), ping]));
    expect(recorder.passed).toEqual(close);
    expect(recorder.delivered).toEqual(['before']);
  });

  const broken: [string, Buffer][] = [
    ['without a mask', encodeClientFrame({ first: TEXT, payload: Buffer.from('t'), key: NO_KEY })],
    ['with a reserved bit', encodeClientFrame({ first: 0xc1, payload: Buffer.from('t') })],
    ['of a reserved kind', encodeClientFrame({ first: 0x83, payload: Buffer.from('t') })],
    ['that is half a ping', encodeClientFrame({ first: 0x09, payload: Buffer.from('t') })],
    ['that is a long ping', encodeClientFrame({ first: PING, payload: Buffer.alloc(126) })],
    ['that goes on with nothing', encodeClientFrame({ first: END, payload: Buffer.from('t') })],
  ];
  test.each(broken)('the head of a frame %s, and nothing after it', (_, frame) => {
    const recorder = new Recorder();
    recorder.read(Buffer.concat([textFrame('before'), frame, textFrame('after'), ping]));
    expect(recorder.delivered).toEqual(['before']);
    expect(frame.subarray(0, recorder.passed.length)).toEqual(recorder.passed);
    expect(recorder.passed.length).toBeGreaterThan(0);
  });

  test('the head of a message within another, with a beginning before it', () => {
    const recorder = new Recorder();
    recorder.read(Buffer.concat([fragments('begun', '')[0] as Buffer, textFrame('x'), textFrame('after')]));
    expect(recorder.delivered).toEqual([]);
    expect(recorder.passed).toEqual(
      Buffer.concat([
        encodeClientFrame({ first: BEGIN, payload: Buffer.alloc(0), key: ZERO_KEY }),
        textFrame('x').subarray(0, 6),
      ]),
    );
  });

  test('in pieces that are kept while the next are read, with a word when no more is wanted', () => {
    const recorder = new Recorder();
    recorder.wantsMore = false;
    expect(recorder.read(ping)).toBe(false);
    expect(recorder.read(textFrame('other bytes in the same memory'))).toBe(true);
    expect(recorder.passed).toEqual(ping);
  });
});

describe('a message that is kept', () => {
  it.each([
    ['in several reads', 600 * KIB],
    ['in one read', 100 * KIB],
  ])('%s stays as it is while others come in, and counts until it is released', (_how, bytes) => {
    const recorder = new Recorder();
    const { reader } = recorder;
    const kept: KeptBytes[] = [];
    recorder.onDeliver = (message) => void kept.push(reader.keep(message));
    recorder.read(textFrame('a'.repeat(bytes)));
    recorder.read(textFrame('b'.repeat(bytes)));
    const told = kept.map((message) => Buffer.from(message.bytes).toString());
    expect(told).toEqual(['a'.repeat(bytes), 'b'.repeat(bytes)]);
    expect(reader.heldBytes).toBe(2 * bytes);
    expect(recorder.held.at(-1)).toBe(2 * bytes);
    kept[0]?.release();
    expect(recorder.held.at(-1)).toBe(bytes);
    kept[1]?.release();
    expect(recorder.held.at(-1)).toBe(0);
  });
});
