import { describe, expect, it } from 'vitest';
import { parseDetachKeys, untilDetachKeys } from '../../src/client/detach-keys.js';

const KEYS = parseDetachKeys('ctrl-p,ctrl-q');

async function type(chunks: readonly string[], keys = KEYS) {
  let isDetached = false;
  const passed: string[] = [];
  async function* input() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const typed = untilDetachKeys(input(), keys, () => {
    isDetached = true;
  });
  for await (const bytes of typed) passed.push(Buffer.from(bytes).toString());
  return { text: passed.join(''), isDetached };
}

describe('keys', () => {
  it.each([
    ['ctrl-p,ctrl-q', [16, 17]],
    ['ctrl-],x', [29, 120]],
    ['ctrl-@', [0]],
    ['none', []],
  ])('%s', (text, bytes) => expect([...parseDetachKeys(text)]).toEqual(bytes));

  it.each(['', 'ctrl', 'ctrl-ö', 'ab', 'ctrl-a,'])('%j makes no sense', (text) => {
    expect(() => parseDetachKeys(text)).toThrow(`invalid value '${text}' for '--detach-keys <KEYS>'`);
  });
});

describe('what is typed', () => {
  it.each([
    [['abc'], 'abc', false],
    [['a\x10\x11b'], 'a', true],
    [['a\x10', '\x11b'], 'a', true],
    [['\x10', 'b\x11'], '\x10b\x11', false],
    [['\x10\x10\x11'], '\x10', true],
  ])('%j', async (chunks, text, isDetached) => {
    expect(await type(chunks)).toEqual({ text, isDetached });
  });

  it('passes as it is without keys', async () => {
    expect(await type(['\x10\x11'], parseDetachKeys('none'))).toEqual({
      text: '\x10\x11',
      isDetached: false,
    });
  });
});
