import { decodeMessage, MalformedMessageError } from '@exec-server/protocol';
import { LongMessage } from '@exec-server/rpc/node';
import fc from 'fast-check';
import { expect } from 'vitest';
import { anyText, jsonText } from './json-text.js';
import { testProperty } from './property.js';

/** What a reader makes of a text: a message, or what it has against it. */
function outcomeOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedMessageError);
    const { message } = error as Error;
    // In a string with several things wrong the one reader finds this first, the other that.
    return /^(control character|EOF while parsing a string)/.test(message) ? 'a broken string' : message;
  }
}

function readInPieces(text: string): unknown {
  const reader = new LongMessage(Buffer.from(text), { m: ['c'] });
  for (;;) {
    const message = reader.read(() => false);
    if (message !== undefined) return message;
  }
}

/** Text that can be sent. */
const isSendable = (text: string) => Buffer.from(text).toString() === text;

testProperty(
  'a message is the same whether it is read at once or in pieces',
  fc.property(anyText.filter(isSendable), (text) => {
    expect(outcomeOf(() => readInPieces(text))).toEqual(outcomeOf(() => decodeMessage(text)));
  }),
  5_000,
);

testProperty(
  'a request is the same whether it is read at once or in pieces',
  fc.property(
    fc.constantFrom('1', '"é"', '9007199254740993', '-0', '1.5'),
    jsonText.filter(isSendable),
    (id, params) => {
      const text = `{"id":${id},"method":"m","params":${params}}`;
      expect(outcomeOf(() => readInPieces(text))).toEqual(outcomeOf(() => decodeMessage(text)));
    },
  ),
  2_000,
);
