import { constants } from 'node:os';
import { expect, it } from 'vitest';
import { parseSignal } from '../../src/client/signal-name.js';

it.each([
  ['HUP', 'SIGHUP'],
  ['sighup', 'SIGHUP'],
  ['SIGKILL', 'SIGKILL'],
  ['9', 'SIGKILL'],
  ['winch', 'SIGWINCH'],
  [String(constants.signals.SIGIO), 'SIGPOLL'],
])('%s is %s', (text, name) => expect(parseSignal(text, '-s')).toBe(name));

it.each(['', 'SIG', 'NOPE', '0', '999', '-9', 'undefined'])('%j is none', (text) => {
  expect(() => parseSignal(text, '-s')).toThrow(
    `invalid value '${text}' for '-s'\n  [possible values: ABRT, `,
  );
});
