import { expect, it } from 'vitest';
import { decodeOutput } from '../../../src/dialects/app/decode-output.js';

it.each([
  ['', ''],
  ['plain é ☃ \u{1f600}', Buffer.from('plain é ☃ \u{1f600}')],
  ['\ufeffwith a mark', Buffer.from('\ufeffwith a mark')],
  ['its own \ufffd', Buffer.from('its own \ufffd')],
  ['cut off: \ufffd', Buffer.from('cut off: é').subarray(0, -1)],
  ['é and broken \ufffd', Buffer.concat([Buffer.from('é and broken '), Buffer.of(0xff)])],
  ['aÿþb', Buffer.from('a\xff\xfeb', 'latin1')],
  ['café au lait', Buffer.from('café au lait', 'latin1')],
])('reads %j', (text, bytes) => {
  expect(decodeOutput(Buffer.from(bytes))).toBe(text);
});
