import { expect, it } from 'vitest';
import { escapeControls } from '../../src/telemetry/escape-controls.js';

it('escapes control characters and nothing else', () => {
  expect(escapeControls('a\t\u001b\u007f\u0085\u009f\u2028\u00a0é😀')).toBe(
    'a\\u0009\\u001b\\u007f\\u0085\\u009f\\u2028\u00a0é😀',
  );
});

it.each([
  ['\u200e\u200f\u061c', '\\u200e\\u200f\\u061c'],
  ['\u202a\u202b\u202c\u202d\u202e', '\\u202a\\u202b\\u202c\\u202d\\u202e'],
  ['\u2066\u2067\u2068\u2069', '\\u2066\\u2067\\u2068\\u2069'],
  ['\u200b\u2060\ufeff\u2029', '\\u200b\\u2060\\ufeff\\u2029'],
  ['\u{e0041}', '\\udb40\\udc41'],
  ['\ud800', '\\ud800'],
])('escapes what turns text around, or cannot be seen: %j', (text, escaped) => {
  expect(escapeControls(text)).toBe(escaped);
});

it('keeps JSON what it is', () => {
  const value = { argv: ['\u009b2J', '\n', '\\u0041', '\u202e', '\u{e0041}x', '\udc00'] };
  expect(JSON.parse(escapeControls(JSON.stringify(value)))).toEqual(value);
});
