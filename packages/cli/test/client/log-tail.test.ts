import type { ProcessEvent } from '@exec-server/client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogTail } from '../../src/client/log-tail.js';

const output = (seq: number, text: string): ProcessEvent => ({
  type: 'output',
  seq,
  stream: 'stdout',
  data: Buffer.from(text),
});
const closed = (seq: number): ProcessEvent => ({ type: 'closed', seq });
const gap = (fromSeq: number, toSeq: number): ProcessEvent => ({ type: 'gap', fromSeq, toSeq });

async function read(events: readonly ProcessEvent[], cursor: number, lines: number): Promise<ProcessEvent[]> {
  const handle = {
    async *events() {
      yield* events;
    },
  };
  const seen: ProcessEvent[] = [];
  for await (const event of new LogTail(handle, cursor, lines).events()) seen.push(event);
  return seen;
}

const textOf = (events: readonly ProcessEvent[]) =>
  events.map((event) => (event.type === 'output' ? Buffer.from(event.data).toString() : '')).join('');

describe('the tail of a log', () => {
  it('is what the last lines are, however the output is cut into pieces', async () => {
    const piece = fc.array(fc.constantFrom('a', '\n'), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 8 }),
        fc.integer({ min: 1, max: 6 }),
        async (pieces, lines) => {
          const texts = pieces.map((letters) => letters.join(''));
          const events = texts.map((text, index) => output(index + 1, text));
          const all = texts.join('');
          const wanted = (all.match(/[^\n]*\n|[^\n]+$/g) ?? []).slice(-lines).join('');
          expect(textOf(await read(events, events.length, lines))).toBe(wanted);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is followed by everything that was written later', async () => {
    const events = [output(1, 'a\nb\n'), output(2, 'c\n'), output(3, 'd\ne\nf\n'), closed(4)];
    expect(textOf(await read(events, 2, 1))).toBe('c\nd\ne\nf\n');
  });

  it('keeps the end, and of what is missing only what is missing in it', async () => {
    const early = [gap(1, 2), output(3, 'a\nb\n'), closed(4)];
    expect((await read(early, 4, 1)).map(({ type }) => type)).toEqual(['output', 'closed']);
    const late = [output(1, 'a\n'), gap(2, 3), output(4, 'b\n'), closed(5)];
    expect((await read(late, 5, 2)).map(({ type }) => type)).toEqual(['output', 'gap', 'output', 'closed']);
    const middle = [output(1, 'a\n'), gap(2, 3), output(4, 'b\nc\n'), closed(5)];
    expect((await read(middle, 5, 1)).map(({ type }) => type)).toEqual(['output', 'closed']);
  });
});
