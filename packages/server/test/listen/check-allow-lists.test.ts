import { expect, it } from 'vitest';
import { checkAllowLists } from '../../src/listen/check-allow-lists.js';

it('takes what browsers and clients send', () => {
  checkAllowLists({
    allowedOrigins: ['https://app.example', 'http://localhost:3000', 'chrome-extension://abcdef'],
    allowedHosts: ['box.example', 'box.example:7711', '10.0.0.1', '[::1]:7711'],
  });
});

it.each([
  ['https://app.example/', '; expected `https://app.example`'],
  ['https://App.example', '; expected `https://app.example`'],
  ['https://app.example:443', '; expected `https://app.example`'],
  ['https://app.example/path', '; expected `https://app.example`'],
  ['app.example', ''],
  ['*', ''],
])('refuses the origin %s', (origin, hint) => {
  expect(() => checkAllowLists({ allowedOrigins: [origin] })).toThrow(
    expect.objectContaining({ code: 'invalid_options', message: `\`${origin}\` is no origin${hint}` }),
  );
});

it.each(['', 'http://box.example', 'box.example/', 'user@box.example', 'a b'])(
  'refuses the host %j',
  (host) => {
    expect(() => checkAllowLists({ allowedHosts: [host] })).toThrow(
      expect.objectContaining({ code: 'invalid_options' }),
    );
  },
);
