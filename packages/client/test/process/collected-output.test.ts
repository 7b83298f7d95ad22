import { describe, expect, it } from 'vitest';
import { CollectedOutput } from '../../src/process/collected-output.js';

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Output of which the first and the last bytes were kept. */
function cut(text: string, headBytes: number, tailBytes: number): CollectedOutput {
  const bytes = bytesOf(text);
  return new CollectedOutput({
    head: bytes.subarray(0, headBytes),
    tail: bytes.subarray(bytes.length - tailBytes),
    totalBytes: bytes.length,
  });
}

describe('text', () => {
  it('is whole where nothing was dropped, also over the seam', () => {
    expect(cut('a€b', 2, 3).text()).toBe('a€b');
  });

  it('says how many bytes are missing', () => {
    expect(cut('0123456789', 3, 2).text()).toBe('012\n[… 5 bytes dropped …]\n89');
    expect(cut('0123456789', 0, 9).text()).toBe('[… 1 byte dropped …]\n123456789');
  });

  it('never shows half a character at the cut, and counts what it leaves out', () => {
    const text = 'x€yyyyy€z';
    expect(cut(text, 3, 2).text()).toBe('x\n[… 11 bytes dropped …]\nz');
    expect(cut(text, 3, 2).droppedBytes).toBe(8);
  });

  it('keeps a byte order mark', () => {
    expect(cut('\ufeffx', 4, 0).text()).toBe('\ufeffx');
  });
});

it('lines have no ends and no empty last one', () => {
  expect(cut('a\r\n\nb\n', 6, 0).lines()).toEqual(['a', '', 'b']);
  expect(cut('a\nb', 3, 0).lines()).toEqual(['a', 'b']);
  expect(cut('', 0, 0).lines()).toEqual([]);
});

it('bytes are what was kept, without a mark', () => {
  expect(cut('0123456789', 3, 2).bytes()).toEqual(bytesOf('01289'));
});

it('trimmed has no white space around it', () => {
  expect(cut(' a b \n', 6, 0).trimmed()).toBe('a b');
});
