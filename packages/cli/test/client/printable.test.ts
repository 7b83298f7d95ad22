import { describe, expect, it } from 'vitest';
import { escapeControls } from '../../../server/src/telemetry/escape-controls.js';
import { toPrintable, toPrintableJson, toPrintableLines, writeId } from '../../src/client/printable.js';
import { writeError } from '../../src/command-error.js';

/** Each makes text look like other text, or like none. */
const DECEPTIVE = [
  ['an escape sequence', '\u001b[2J', '\\x1b[2J'],
  ['a one-byte escape sequence', '\u009b2J', '\\x9b2J'],
  ['a line', 'a\nb', 'a\\nb'],
  ['a return', 'a\rb', 'a\\x0db'],
  ['marks of direction', '\u200e\u200f\u061c', '\\u{200e}\\u{200f}\\u{61c}'],
  ['embeddings', '\u202a\u202b\u202c\u202d\u202e', '\\u{202a}\\u{202b}\\u{202c}\\u{202d}\\u{202e}'],
  ['isolates', '\u2066\u2067\u2068\u2069', '\\u{2066}\\u{2067}\\u{2068}\\u{2069}'],
  ['no width', '\u200b\u200c\u200d\u2060\ufeff', '\\u{200b}\\u{200c}\\u{200d}\\u{2060}\\u{feff}'],
  ['separators', '\u2028\u2029', '\\u{2028}\\u{2029}'],
  ['tags', '\u{e0001}\u{e0041}\u{e007f}', '\\u{e0001}\\u{e0041}\\u{e007f}'],
  ['selectors', '\ufe0f\u{e0100}', '\\u{fe0f}\\u{e0100}'],
  ['fillers', '\u115f\u3164\uffa0', '\\u{115f}\\u{3164}\\u{ffa0}'],
  ['half a character', '\ud83d', '\\u{d83d}'],
] as const;

describe('text of others', () => {
  it.each(DECEPTIVE)('shows %s', (_name, text, shown) => {
    expect(toPrintable(text)).toBe(shown);
  });

  it('stays as it is where it can be seen', () => {
    const text = 'a b é ß 日本 עברית العربية 😀 \u00a0';
    expect(toPrintable(text)).toBe(text);
  });

  it('keeps its lines where there may be some', () => {
    expect(toPrintableLines('a\u202e\nb')).toBe('a\\u{202e}\nb');
  });

  it('stays the same value as JSON', () => {
    const value = DECEPTIVE.map(([, text]) => text);
    const json = toPrintableJson(JSON.stringify(value, undefined, 2));
    expect(JSON.parse(json)).toEqual(value);
    expect(json.split('\n').map(toPrintable).join('\n')).toBe(json);
  });

  it('is shown where the logs of a server show it', () => {
    const disagreed: string[] = [];
    for (let code = 0; code <= 0x10ffff; code++) {
      const text = String.fromCodePoint(code);
      if ((toPrintable(text) === text) !== (escapeControls(text) === text)) disagreed.push(code.toString(16));
    }
    expect(disagreed).toEqual([]);
  });
});

function collect(isTTY: boolean) {
  const written: string[] = [];
  const stream = { isTTY, write: (text: string) => void written.push(text) };
  return {
    written,
    io: { stdout: stream, stderr: stream } as unknown as Parameters<typeof writeError>[0] &
      Parameters<typeof writeId>[0],
  };
}

it('an error in the words of a server gives no orders to the terminal', () => {
  const { written, io } = collect(true);
  writeError(io, new Error('no such \u001b]0;title\u0007\u202efile\nsecond line'));
  expect(written).toEqual(['Error: no such \\x1b]0;title\\x07\\u{202e}file\nsecond line\n']);
});

it.each([
  [true, 'p\\u{202e}\n'],
  [false, 'p\u202e\n'],
])('an id on a terminal, %s, is %j', (isTTY, expected) => {
  const { written, io } = collect(isTTY);
  writeId(io, 'p\u202e');
  expect(written).toEqual([expected]);
});
