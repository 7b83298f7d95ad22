import { afterEach, expect, it } from 'vitest';
import { DescriptorScope } from '../../src/native/descriptors.js';
import { loadLibc } from '../../src/native/libc.js';
import { enlargePipe, forgetLargePipe, MAX_LARGE_PIPES } from '../../src/native/pipe-capacity.js';
import { openOutputPipe } from '../../src/native/pipes.js';

const libc = loadLibc();
const scope = new DescriptorScope(libc);

afterEach(() => scope.closeAll());

it('enlarges so many pipes at the same time and no more, until one of them is closed', () => {
  const enlargeNew = () => enlargePipe(libc, openOutputPipe(libc, scope).ours);
  const outcomes = Array.from({ length: MAX_LARGE_PIPES + 1 }, enlargeNew);
  expect(outcomes.lastIndexOf(true)).toBe(MAX_LARGE_PIPES - 1);
  expect(outcomes.indexOf(false)).toBe(MAX_LARGE_PIPES);
  forgetLargePipe();
  expect([enlargeNew(), enlargeNew()]).toEqual([true, false]);
  for (let count = 0; count < MAX_LARGE_PIPES; count++) forgetLargePipe();
});

it('does not count what cannot be enlarged', () => {
  expect(enlargePipe(libc, -1)).toBe(false);
  const outcomes = Array.from({ length: MAX_LARGE_PIPES }, () =>
    enlargePipe(libc, openOutputPipe(libc, scope).ours),
  );
  expect(outcomes).not.toContain(false);
  for (let count = 0; count < MAX_LARGE_PIPES; count++) forgetLargePipe();
});
