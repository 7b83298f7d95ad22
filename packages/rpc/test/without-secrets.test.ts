import { expect, test } from 'vitest';
import { withoutSecrets } from '../src/index.js';

test.each([
  ['ws://127.0.0.1:80', 'ws://127.0.0.1:80'],
  ['wss://me:secret@host.example/path', 'wss://host.example/path'],
  ['ws://host.example:1/?token=secret', 'ws://host.example:1/'],
  ['ws://host.example:1/#secret', 'ws://host.example:1/'],
  ['no url', 'no url'],
])('%s is shown as %s', (url, shown) => {
  expect(withoutSecrets(url)).toBe(shown);
});
