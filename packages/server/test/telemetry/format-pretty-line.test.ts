import { expect, it } from 'vitest';
import { formatPrettyLine } from '../../src/telemetry/format-pretty-line.js';

const line = (record: object) =>
  JSON.stringify({ level: 'warn', time: '2026-11-15T12:30:01.250Z', ...record });

it('quotes what is not plain', () => {
  expect(formatPrettyLine(line({ msg: 'm', a: 'x y', b: 1, c: null, d: { e: true }, f: '' }), false)).toBe(
    '12:30:01.250 WARN  m a="x y" b=1 c=null d={"e":true} f=""\n',
  );
});

it('lets nothing but its own colours reach the terminal', () => {
  const text = formatPrettyLine(line({ msg: '\u001b[2Jm\r\n', 'k\n': '\u009b31m' }), false);
  expect(text).toBe('12:30:01.250 WARN  \\u001b[2Jm\\u000d\\u000a k\\u000a="\\u009b31m"\n');
});

it('puts a stack on lines of its own', () => {
  const err = { type: 'Error', message: 'boom', stack: 'Error: boom\n    at x\u001b\n    at y' };
  expect(formatPrettyLine(line({ msg: 'm', err }), false)).toBe(
    '12:30:01.250 WARN  m\n    Error: boom\n    at x\\u001b\n    at y\n',
  );
});

it('paints time, level and names', () => {
  expect(formatPrettyLine(line({ msg: 'm', a: 1 }), true)).toBe(
    '\u001b[2m12:30:01.250\u001b[0m \u001b[33mWARN \u001b[0m m \u001b[2ma=\u001b[0m1\n',
  );
});
