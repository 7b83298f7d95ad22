import { expect, test } from 'vitest';
import { Bindings } from './placeholders.js';

const SESSION = '0b9d2a1e-7c55-4c1e-9f3b-2f0f6f2a9c11';

function bind(values: Record<string, string>): Bindings {
  const bindings = new Bindings();
  for (const [name, value] of Object.entries(values)) bindings.bind(name, value);
  return bindings;
}

test('fills known names at any depth and leaves shell variables alone', () => {
  const bindings = bind({ TMP: '/t', TMPROOT: '/r', HOME: '/h' });
  const value = { a: ['file://$TMP/x', '$TMPROOT/y'], b: { c: '$HOME $0 $x $HOMELESS' }, d: 5, e: null };
  expect(bindings.fill(value)).toEqual({
    a: ['file:///t/x', '/r/y'],
    b: { c: '/h $0 $x /hLESS' },
    d: 5,
    e: null,
  });
});

test('a session id is any UUID at first, and the same one from then on', () => {
  const bindings = new Bindings();
  expect(bindings.matches('$SESSION1', 'no uuid')).toBe(false);
  expect(bindings.matches('$SESSION1', SESSION)).toBe(true);
  expect(bindings.matches('$SESSION1', SESSION.replace('0', '1'))).toBe(false);
  expect(bindings.fillText('resume $SESSION1')).toBe(`resume ${SESSION}`);
});

test.each([
  ['ws://127.0.0.1:$PORT\n', 'ws://127.0.0.1:7711\n', true],
  ['ws://127.0.0.1:$PORT\n', 'ws://127.0.0.1:\n', false],
  ['from $PEER: oops', 'from 127.0.0.1:5: oops', true],
  ['from $PEER: oops', 'from [::1]:5: oops', true],
  ['from $PEER: oops', 'from somewhere: oops', false],
  ['$DATE', 'Sun, 15 Nov 2026 21:00:00 GMT', true],
  ['$DATE', 'yesterday', false],
  ['$ISO', '2026-11-15T21:00:00.123456Z', true],
  ['a.c', 'abc', false],
])('%j against %j', (expected, actual, matches) => {
  expect(new Bindings().matches(expected, actual)).toBe(matches);
});

test('a known port is that port', () => {
  expect(bind({ PORT: '80' }).matches('http://127.0.0.1:$PORT/', 'http://127.0.0.1:81/')).toBe(false);
});

test('milliseconds are a positive whole number', () => {
  const bindings = new Bindings();
  expect(bindings.matches('$MS', 1_700_000_000_000)).toBe(true);
  expect(bindings.matches('$MS', 0)).toBe(false);
  expect(bindings.matches('$MS', '1')).toBe(false);
});

test('decoded text is compared with what the base64 says', () => {
  const bindings = bind({ TMP: '/t' });
  expect(bindings.matches('$TEXT:PWD=$TMP\n', Buffer.from('PWD=/t\n').toString('base64'))).toBe(true);
  expect(bindings.decodeChunk('$TEXT:PWD=$TMP\n').toString()).toBe('PWD=/t\n');
  expect(bindings.decodeChunk('aGk=').toString()).toBe('hi');
});

test('generated parameters have the recorded size', () => {
  expect(bind({ TMP: '/t' }).fill({ roots: '$GEN: 129 roots' }).roots).toHaveLength(129);
});
