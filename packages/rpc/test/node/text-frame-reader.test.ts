import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { TextFrameReader } from '../../src/node/text-frame-reader.js';
import { BINARY, encodeClientFrame, PING, TEXT, textFrame, ZERO_KEY } from '../support/client-frames.js';

const KIB = 1024;
const READ_BYTES = 256 * KIB;
const FIRST_ROOM_BYTES = 4 * KIB * KIB;
const MAX_MESSAGE_BYTES = 16 * KIB * KIB;
const NO_KEY = new Uint8Array();

class Recorder {
  readonly delivered: string[] = [];
  readonly passedOn: Buffer[] = [];
  isFree = true;
  wantsMore = true;
  readonly reader: TextFrameReader;

  constructor(maxMessageBytes = MAX_MESSAGE_BYTES) {
    this.reader = new TextFrameReader(maxMessageBytes, {
      canDeliver: () => this.isFree,
      deliver: (text) => this.delivered.push(text.toString('utf8')),
      passOn: (bytes) => {
        this.passedOn.push(bytes);
        return this.wantsMore;
      },
    });
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
}

const ping = encodeClientFrame({ first: PING, payload: Buffer.from('p') });

describe('text messages', () => {
  it.each([0, 1, 125, 126, 0xffff, 0x1_0000, READ_BYTES - 15, READ_BYTES - 14, READ_BYTES - 13])(
    'of %i bytes are delivered, two in a row',
    (length) => {
      const recorder = new Recorder();
      const [first, second] = ['a'.repeat(length), 'b'.repeat(length)];
      recorder.read(Buffer.concat([textFrame(first), textFrame(second)]));
      expect(recorder.delivered).toEqual([first, second]);
      expect(recorder.passedOn).toEqual([]);
    },
  );

  it.each([FIRST_ROOM_BYTES - 1, FIRST_ROOM_BYTES, FIRST_ROOM_BYTES + 1, 3 * FIRST_ROOM_BYTES])(
    'of %i bytes are delivered, however much room they get at first',
    (length) => {
      const recorder = new Recorder();
      const text = Buffer.alloc(length, 'abcdefg').toString();
      recorder.read(Buffer.concat([textFrame(text, ZERO_KEY), textFrame('next')]));
      expect(recorder.delivered[0] === text).toBe(true);
      expect(recorder.delivered[1]).toBe('next');
    },
  );

  it('get no more memory on their announcement than at first', () => {
    const recorder = new Recorder();
    recorder.read(textFrame(Buffer.alloc(MAX_MESSAGE_BYTES), ZERO_KEY).subarray(0, 100));
    expect(recorder.reader.makeRoom().length).toBeLessThanOrEqual(FIRST_ROOM_BYTES);
  });

  it.each([
    [99, true],
    [100, true],
    [101, false],
  ])('of %i bytes are delivered where 100 are allowed: %s', (length, isDelivered) => {
    const recorder = new Recorder(100);
    const frame = textFrame('x'.repeat(length));
    recorder.read(frame);
    expect(recorder.delivered.length).toBe(isDelivered ? 1 : 0);
    expect(Buffer.concat(recorder.passedOn)).toEqual(isDelivered ? Buffer.alloc(0) : frame);
  });

  it('that are no UTF-8 are passed on as one that is none', () => {
    const recorder = new Recorder();
    recorder.read(textFrame(Uint8Array.of(0x61, 0xff)));
    expect(recorder.delivered).toEqual([]);
    expect(Buffer.concat(recorder.passedOn)).toEqual(textFrame(Uint8Array.of(0xff), ZERO_KEY));
  });

  it('arrive the same however they are cut', () => {
    const texts = ['', 'é', 'x'.repeat(200), 'y'.repeat(70_000)];
    const bytes = Buffer.concat(texts.map((text) => textFrame(text)));
    const cuts = fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 });
    const headCuts = fc.array(fc.nat({ max: 40 }), { maxLength: 6 });
    fc.assert(
      fc.property(cuts, headCuts, (anywhere, early) => {
        const recorder = new Recorder();
        const ends = [...anywhere, ...early, bytes.length].sort((a, b) => a - b);
        let start = 0;
        for (const end of ends) {
          recorder.read(bytes.subarray(start, end));
          start = end;
        }
        expect(recorder.delivered).toEqual(texts);
      }),
    );
  });
});

describe('everything else is passed on as it is', () => {
  const fragments = [
    encodeClientFrame({ first: 0x01, payload: Buffer.from('begin') }),
    ping,
    encodeClientFrame({ first: 0x00, payload: Buffer.from('middle') }),
    encodeClientFrame({ first: 0x80, payload: Buffer.from('end') }),
  ];
  test.each([
    ['a ping', ping],
    ['a close frame', encodeClientFrame({ first: 0x88, payload: Buffer.alloc(0) })],
    ['a binary message', encodeClientFrame({ first: BINARY, payload: Buffer.alloc(3000, 'b') })],
    [
      'a text message without a mask',
      encodeClientFrame({ first: TEXT, payload: Buffer.from('t'), key: NO_KEY }),
    ],
    ['a text message with a reserved bit', encodeClientFrame({ first: 0xc1, payload: Buffer.from('t') })],
    ['fragments, and what comes between them', Buffer.concat(fragments)],
  ])('%s', (_, bytes) => {
    const recorder = new Recorder();
    recorder.read(bytes);
    recorder.read(textFrame('after'));
    expect(Buffer.concat(recorder.passedOn)).toEqual(bytes);
    expect(recorder.delivered).toEqual(['after']);
  });

  test('a text message in the middle of fragments', () => {
    const recorder = new Recorder();
    const pieces = [fragments[0] as Buffer, textFrame('against the protocol')];
    for (const piece of pieces) recorder.read(piece);
    expect(recorder.delivered).toEqual([]);
    expect(Buffer.concat(recorder.passedOn)).toEqual(Buffer.concat(pieces));
  });

  test('text messages that come in one read behind something else, but not those of the next', () => {
    const recorder = new Recorder();
    recorder.read(Buffer.concat([textFrame('1'), ping, textFrame('2')]));
    recorder.read(textFrame('3'));
    expect(recorder.delivered).toEqual(['1', '3']);
    expect(Buffer.concat(recorder.passedOn)).toEqual(Buffer.concat([ping, textFrame('2')]));
  });

  test('text messages that may not be delivered when they begin', () => {
    const recorder = new Recorder();
    const frame = textFrame('held up');
    recorder.isFree = false;
    recorder.read(frame.subarray(0, 8));
    recorder.isFree = true;
    recorder.read(frame.subarray(8));
    recorder.read(textFrame('free'));
    expect(Buffer.concat(recorder.passedOn)).toEqual(frame);
    expect(recorder.delivered).toEqual(['free']);
  });

  test('in pieces that are kept while the next are read', () => {
    const recorder = new Recorder();
    const frame = encodeClientFrame({ first: BINARY, payload: Buffer.from('kept') });
    recorder.read(frame);
    recorder.read(textFrame('other bytes in the same memory'));
    expect(Buffer.concat(recorder.passedOn)).toEqual(frame);
  });

  test('and says when no more is wanted', () => {
    const recorder = new Recorder();
    recorder.wantsMore = false;
    expect(recorder.read(ping)).toBe(false);
    expect(recorder.read(textFrame('wanted'))).toBe(true);
  });
});
