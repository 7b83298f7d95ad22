import { describe, expect, it } from 'vitest';
import { CollectedOutput, type TruncationPolicy } from '../../src/process/collected-output.js';
import { OutputTruncatedError } from '../../src/process/output-truncated-error.js';

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Output of which the first and the last bytes were kept. */
function cut(
  text: string,
  headBytes: number,
  tailBytes: number,
  policy: TruncationPolicy = { truncate: 'middle', name: 'stdout' },
): CollectedOutput {
  const bytes = bytesOf(text);
  const kept = {
    head: bytes.subarray(0, headBytes),
    tail: bytes.subarray(bytes.length - tailBytes),
    totalBytes: bytes.length,
  };
  return new CollectedOutput(kept, policy);
}

describe('all of it', () => {
  const refuse: TruncationPolicy = { truncate: 'error', name: 'stdout' };

  it.each(['bytes', 'text', 'trimmed', 'lines'] as const)(
    'is refused by %s from the first byte that is missing',
    (read) => {
      expect(() => cut('0123456789', 5, 5, refuse)[read]()).not.toThrow();
      expect(() => cut('0123456789', 5, 4, refuse)[read]()).toThrow(OutputTruncatedError);
      expect(() => cut('0123456789', 5, 4)[read]()).not.toThrow();
    },
  );

  it('is refused with what was kept and what to do', () => {
    let error: unknown;
    try {
      cut('0123456789', 3, 2, refuse).text();
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({
      code: 'output_truncated',
      retryable: false,
      head: bytesOf('012'),
      tail: bytesOf('89'),
      totalBytes: 10,
      droppedBytes: 5,
      missed: [],
      message: expect.stringMatching(/^5 of the 10 bytes of stdout were not kept: raise `output.headBytes`/),
    });
  });

  it('is refused where events never came, though every byte that came was kept', () => {
    const missed = [{ fromSeq: 3, toSeq: 7 }];
    const output = cut('0123456789', 10, 0, { ...refuse, missed });
    expect(() => output.text()).toThrow(/the server no longer had events 3 to 7/);
    expect(output.excerpt()).toBe('0123456789');
  });

  it('is refused where nobody chose', () => {
    const { head, tail, totalBytes } = cut('0123456789', 1, 1);
    expect(() => new CollectedOutput({ head, tail, totalBytes }).text()).toThrow(OutputTruncatedError);
  });

  it('has an excerpt all the same', () => {
    expect(cut('0123456789', 3, 2, refuse).excerpt()).toBe('012\n[… 5 bytes dropped …]\n89');
  });
});

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
