import { expect, it } from 'vitest';
import { escapeControls } from '../../src/telemetry/escape-controls.js';

it('escapes control characters and nothing else', () => {
  expect(escapeControls('a\t\u001b\u007f\u0085\u009f\u2028\u00a0é😀')).toBe(
    'a\\u0009\\u001b\\u007f\\u0085\\u009f\\u2028\u00a0é😀',
  );
});

it('keeps JSON what it is', () => {
  const value = { argv: ['\u009b2J', '\n', '\\u0041'] };
  expect(JSON.parse(escapeControls(JSON.stringify(value)))).toEqual(value);
});
