import { describe, expect, it } from 'vitest';
import { EventLines, MAX_EVENT_BYTES } from '../../src/codex/event-lines.js';

function open() {
  const lines: string[] = [];
  let skipped = 0;
  const reader = new EventLines(
    (line) => lines.push(line),
    () => skipped++,
  );
  const take = (text: string) => reader.take(Buffer.from(text));
  return { reader, take, lines, skipped: () => skipped };
}

describe('EventLines', () => {
  it('cuts at line ends, wherever the pieces end', () => {
    const { reader, take, lines } = open();
    for (const piece of ['on', 'e\ntw', '', 'o\n\nthr', 'ee']) take(piece);
    reader.end();
    expect(lines).toEqual(['one', 'two', '', 'three']);
  });

  it('does not take a line for whole that something is missing from', () => {
    const { reader, take, lines, skipped } = open();
    take('one\ntw');
    reader.gap();
    take('o\nthree\n');
    expect(lines).toEqual(['one', 'three']);
    expect(skipped()).toBe(1);
  });

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('a line with %i bytes more than the limit is read: %s', (more, isRead) => {
    const { take, lines } = open();
    take(`${'x'.repeat(MAX_EVENT_BYTES + more)}\nnext\n`);
    expect(lines.map(({ length }) => length)).toEqual([...(isRead ? [MAX_EVENT_BYTES + more] : []), 4]);
  });
});
