import { describe, expect, it } from 'vitest';
import { parseCapture } from '../../src/shell-snapshot/parse-capture.js';
import { createSnapshot, MAX_SNAPSHOT_BYTES } from '../../src/shell-snapshot/snapshot.js';

const NONCE = 'nonce';
/** What a shell prints: noise of the login, six parts between marks, noise of the end. */
const printed = (...parts: string[]) =>
  Buffer.from(['noise', ...parts, 'bye'].join(`\0${NONCE}\0`), 'latin1');

function snapshotOf(environment: string, before: Record<string, string> = {}) {
  const capture = parseCapture(printed('', '', '', '', '0022\n', environment), NONCE);
  return createSnapshot('sh', capture!, new Map(Object.entries(before)));
}

describe('a capture', () => {
  it('is what stands between the marks', () => {
    const capture = parseCapture(printed('o', 'f', 'x', 'a', 'u', 'A=1\0B=two\nlines\0C==\0=no\0'), NONCE);
    expect(capture?.parts).toMatchObject({
      options: 'o',
      functions: 'f',
      attributes: 'x',
      aliases: 'a',
      umask: 'u',
    });
    expect(capture && [...capture.environment]).toEqual([
      ['A', '1'],
      ['B', 'two\nlines'],
      ['C', '='],
    ]);
  });

  it('leaves out variables that are no text', () => {
    expect([...(snapshotOf('A=\xff\0B=1\0')?.changed ?? [])]).toEqual([['B', '1']]);
  });

  it('is incomplete without its last mark', () => {
    const output = printed('', '', '', '', '', 'A=1\0');
    expect(parseCapture(output, NONCE)).toBeDefined();
    expect(parseCapture(output.subarray(0, -'\0bye'.length), NONCE)).toBeUndefined();
    expect(parseCapture(Buffer.from('just noise'), NONCE)).toBeUndefined();
    expect(parseCapture(printed('', '', '', '', '', ''), NONCE)).toBeUndefined();
  });
});

describe('a snapshot', () => {
  it('holds what the login changed, and not what the shell does by itself', () => {
    const environment =
      'KEPT=1\0NEW=2\0CHANGED=after\0PWD=/\0OLDPWD=/x\0SHLVL=1\0_=x\0BASH_FUNC_f%%=() { :; }\0';
    const snapshot = snapshotOf(environment, {
      KEPT: '1',
      CHANGED: 'before',
      GONE: '1',
      PWD: '/y',
      OLDPWD: '/z',
    });
    expect(Object.fromEntries(snapshot?.changed ?? [])).toEqual({ NEW: '2', CHANGED: 'after' });
    expect([...(snapshot?.removed ?? [])]).toEqual(['GONE']);
  });

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('of %i bytes beyond the limit', (beyond, kept) => {
    const others = 'umask 0022\n'.length + 'A'.length + 2;
    const snapshot = snapshotOf(`A=${'x'.repeat(MAX_SNAPSHOT_BYTES - others + beyond)}\0`);
    expect(snapshot !== undefined).toBe(kept);
  });
});
