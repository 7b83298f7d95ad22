import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MessageTooLongError } from '../../src/message-limit.js';
import { LineSplitter } from '../../src/node/line-splitter.js';

function split(pieces: Buffer[], maxLineBytes = 1024): string[] {
  const splitter = new LineSplitter(maxLineBytes);
  const lines = pieces.flatMap((piece) => [...mapLines(splitter.push(piece))]);
  return [...lines, ...mapLines(splitter.finish())];
}

function* mapLines(lines: Iterable<Buffer>): Generator<string> {
  for (const line of lines) yield line.toString('utf8');
}

describe('LineSplitter', () => {
  test('leaves a line alone that is kept, and counts it until it is released', () => {
    const splitter = new LineSplitter(1_000_000);
    const tell = (text: string) => {
      for (const line of splitter.push(Buffer.from(text))) return { line, release: splitter.keepLine(line) };
      throw new Error('there is no line');
    };
    const long = 'x'.repeat(100_000);
    splitter.push(Buffer.from(long)).next();
    const first = tell(`${long}\n`);
    splitter.push(Buffer.from('y'.repeat(100_000))).next();
    const second = tell(`${'y'.repeat(100_000)}\n`);
    expect(first.line.toString()).toBe(long + long);
    expect(second.line.buffer).not.toBe(first.line.buffer);
    expect(splitter.heldBytes).toBe(400_000);
    first.release();
    expect(splitter.heldBytes).toBe(200_000);
    second.release();
    expect(splitter.heldBytes).toBe(0);
    // One that was within a chunk has no memory of its own.
    const third = tell('short\n');
    third.release();
    expect([third.line.toString(), splitter.heldBytes]).toEqual(['short', 0]);
  });

  const text = 'a\r\n\n{"é":"😀"}\n\r\nb\rc\nlast';
  const lines = ['a', '', '{"é":"😀"}', '', 'b\rc', 'last'];
  const bytes = Buffer.from(text);

  test('cuts one piece with many lines', () => {
    expect(split([bytes])).toEqual(lines);
  });

  test('cuts the same wherever the stream is split in two', () => {
    for (let at = 0; at <= bytes.length; at++) {
      expect(split([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(lines);
    }
  });

  test('cuts the same byte by byte', () => {
    expect(split([...bytes].map((byte) => Buffer.from([byte])))).toEqual(lines);
  });

  test('joined lines equal the stream, for any lines and any pieces', () => {
    const line = fc.string({ unit: 'binary', maxLength: 40 }).map((raw) => raw.replaceAll(/[\r\n]/g, ''));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(30)), (all, cuts) => {
        const stream = Buffer.from(all.map((each) => `${each}\n`).join(''));
        const pieces: Buffer[] = [];
        let at = 0;
        for (const cut of cuts) {
          pieces.push(stream.subarray(at, at + cut));
          at = Math.min(at + cut, stream.length);
        }
        pieces.push(stream.subarray(at));
        expect(split(pieces)).toEqual(all.map((each) => Buffer.from(each).toString('utf8')));
      }),
    );
  });

  describe.each(['\n', '\r\n', ''])('a limit of 8 bytes, line ends with %j', (ending) => {
    const whole = (length: number) => [Buffer.from('x'.repeat(length) + ending)];
    const dripped = (length: number) => [...whole(length)[0]!].map((byte) => Buffer.from([byte]));

    test.each([7, 8])('%i bytes pass', (length) => {
      expect(split(whole(length), 8)).toEqual(['x'.repeat(length)]);
      expect(split(dripped(length), 8)).toEqual(['x'.repeat(length)]);
    });

    test('9 bytes do not', () => {
      expect(() => split(whole(9), 8)).toThrow(MessageTooLongError);
      expect(() => split(dripped(9), 8)).toThrow(MessageTooLongError);
    });
  });

  test('a line without end stops as soon as it cannot be short enough any more', () => {
    const splitter = new LineSplitter(8);
    expect([...splitter.push(Buffer.from('123456789'))]).toEqual([]);
    expect(() => [...splitter.push(Buffer.from('0'))]).toThrow('line exceeds the limit of 8 bytes');
  });

  test('gathers 64 MiB from pieces of 64 KiB', () => {
    const piece = Buffer.alloc(64 * 1024, 'x');
    const splitter = new LineSplitter(64 * 1024 * 1024);
    for (let count = 0; count < 1024; count++) expect(splitter.push(piece).next().done).toBe(true);
    const line = splitter.push(Buffer.from('\n')).next().value as Buffer;
    expect(line.length).toBe(64 * 1024 * 1024);
    expect(line.every((byte) => byte === 0x78)).toBe(true);
  });

  describe('a line that is not whole', () => {
    test.each([
      [1, 4096],
      [511, 4096],
      [512, 4096],
      [513, 8 * 513],
      [100_000, 800_000],
    ])('holds for %i bytes %i at most, and nothing once it is told', (length, capacity) => {
      const splitter = new LineSplitter(1024 * 1024);
      expect([...splitter.push(Buffer.alloc(length, 'x'))]).toEqual([]);
      expect(splitter.heldBytes).toBe(capacity);
      expect([...mapLines(splitter.push(Buffer.from('\n')))]).toEqual(['x'.repeat(length)]);
      expect(splitter.heldBytes).toBe(0);
    });

    test('holds no more than a line may have, and the return that may follow it', () => {
      const splitter = new LineSplitter(1000);
      expect([...splitter.push(Buffer.alloc(500, 'x'))]).toEqual([]);
      expect(splitter.heldBytes).toBe(1001);
    });

    test('can be let go of', () => {
      const splitter = new LineSplitter(1024);
      expect([...splitter.push(Buffer.from('begun'))]).toEqual([]);
      splitter.drop();
      expect(splitter.heldBytes).toBe(0);
      expect([...mapLines(splitter.push(Buffer.from(' anew\n')))]).toEqual([' anew']);
    });
  });

  test.each([
    [7, true],
    [8, true],
    [9, false],
  ])('takes %i bytes where the limit is set to 8, and more once it is taken back: %s', (length, passes) => {
    const splitter = new LineSplitter(100);
    splitter.limitLines({ bytes: 8, condition: 'for now' });
    const read = () => [...mapLines(splitter.push(Buffer.from(`${'x'.repeat(length)}\n`)))];
    if (passes) expect(read()).toEqual(['x'.repeat(length)]);
    else expect(read).toThrow('line exceeds the limit of 8 bytes for now');
    splitter.limitLines();
    expect([...mapLines(splitter.push(Buffer.alloc(100, 'y'))), ...mapLines(splitter.finish())]).toEqual([
      'y'.repeat(100),
    ]);
  });
});
