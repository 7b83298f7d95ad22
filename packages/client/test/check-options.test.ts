import { expect, it } from 'vitest';
import { checkOptions } from '../src/check-options.js';

it('knows the options of an operation, and no others', () => {
  checkOptions('rm', { force: true }, ['force', 'recursive']);
  expect(() => checkOptions('rm', { maxRetries: 3 }, ['force', 'recursive'])).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: 'rm has no option `maxRetries`; it takes force, recursive',
    }),
  );
});
