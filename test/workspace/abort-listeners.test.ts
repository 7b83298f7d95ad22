import { expect, test } from 'vitest';
import { listSourceFiles } from './source-files.js';

const HOME = 'packages/rpc/src/abort-listeners.ts';

test('signals that others hand in get no listener for each call, of which Node would warn', () => {
  const users = listSourceFiles().filter(
    ({ path, packageName, text }) =>
      ['rpc', 'client', 'server'].includes(packageName) &&
      path !== HOME &&
      text.includes(".addEventListener('abort'"),
  );
  expect(users.map(({ path }) => path)).toEqual([]);
});
