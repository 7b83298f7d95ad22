import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { createLineTransport } from '@exec-server/rpc/node';
import fc from 'fast-check';
import { expect } from 'vitest';
import { MessageTooLongError } from '../../packages/rpc/src/message-limit.js';
import { LineSplitter } from '../../packages/rpc/src/node/line-splitter.js';
import { testProperty } from './property.js';

const NEWLINE = 0x0a;

/** Bytes in which line ends are frequent. */
const bytes = fc
  .array(
    fc.oneof(
      fc.constantFrom('\n', '\r\n', '\r', '{}', '\n\n').map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 40 }).map((piece) => Buffer.from(piece)),
    ),
  )
  .map((pieces) => Buffer.concat(pieces));
const cuts = fc.array(fc.nat());

function cutAt(stream: Buffer, places: readonly number[]): Buffer[] {
  const at = places.map((place) => place % (stream.length + 1)).sort((a, b) => a - b);
  return [0, ...at].map((start, index) => stream.subarray(start, at[index] ?? stream.length));
}

/** The lines of a stream, taken at once, with the last one marked that has no end. */
function splitAtOnce(stream: Buffer): { readonly lines: Buffer[]; readonly rest: Buffer } {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = stream.indexOf(NEWLINE); end !== -1; end = stream.indexOf(NEWLINE, start)) {
    lines.push(withoutReturn(stream.subarray(start, end)));
    start = end + 1;
  }
  return { lines, rest: stream.subarray(start) };
}

const withoutReturn = (line: Buffer) => (line.at(-1) === 0x0d ? line.subarray(0, -1) : line);

testProperty(
  'lines are the same however the stream is cut, and one that is too long is refused',
  fc.property(bytes, cuts, fc.integer({ min: 1, max: 60 }), (stream, places, maxLineBytes) => {
    const { lines, rest } = splitAtOnce(stream);
    const expected = rest.length === 0 ? lines : [...lines, withoutReturn(rest)];
    const firstTooLong = expected.findIndex((line) => line.length > maxLineBytes);
    const splitter = new LineSplitter(maxLineBytes);
    const seen: Buffer[] = [];
    const readAll = () => {
      // The lines are views of buffers that are used again.
      for (const chunk of cutAt(stream, places))
        for (const line of splitter.push(chunk)) seen.push(Buffer.from(line));
      for (const last of splitter.finish()) seen.push(Buffer.from(last));
    };
    if (firstTooLong === -1) {
      readAll();
      expect(seen).toEqual(expected);
    } else {
      expect(readAll).toThrow(MessageTooLongError);
      expect(seen).toEqual(expected.slice(0, firstTooLong));
    }
  }),
  4_000,
);

testProperty(
  'a stream of lines becomes its messages, or ends at the first line that is none',
  fc.asyncProperty(bytes, cuts, async (stream, places) => {
    const { lines, rest } = splitAtOnce(stream);
    const all = [...lines, withoutReturn(rest)].filter((line) => line.length > 0);
    const texts = all.map((line) => (isText(line) ? line.toString() : undefined));
    const broken = texts.indexOf(undefined);
    const expected = (broken === -1 ? texts : texts.slice(0, broken)).filter((text) => /\S/.test(text ?? ''));

    const input = new PassThrough();
    const output = new PassThrough().resume();
    const transport = createLineTransport({ input, output, label: 'fuzzed' });
    const seen: string[] = [];
    const closed = new Promise<string | undefined>((onClose) => {
      transport.open({ onMessage: (text) => seen.push(text), onMalformed() {}, onDrain() {}, onClose });
    });
    for (const chunk of cutAt(stream, places))
      if (!input.destroyed && !input.write(chunk)) await Promise.race([once(input, 'drain'), closed]);
    input.end();
    const reason = await closed;
    expect(seen).toEqual(expected);
    expect(reason).toBe(broken === -1 ? undefined : 'stream did not contain valid UTF-8');
  }),
  1_000,
);

function isText(line: Buffer): boolean {
  return Buffer.from(line.toString()).equals(line);
}
