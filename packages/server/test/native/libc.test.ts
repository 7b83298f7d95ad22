import { constants as fsConstants, statSync } from 'node:fs';
import { constants } from 'node:os';
import { expect, it } from 'vitest';
import { checkResult, loadLibc } from '../../src/native/libc.js';

const { EBADF, ENOENT } = constants.errno;
const libc = loadLibc();

it('knows why a call failed, whatever the program has done since', () => {
  expect(libc.close(-1)).toBe(-1);
  expect(statSync('/does/not/exist', { throwIfNoEntry: false })).toBeUndefined();
  expect(libc.errno()).toBe(EBADF);
  expect(libc.open(Buffer.from('/does/not/exist\0'), fsConstants.O_RDONLY)).toBe(-1);
  expect(libc.errno()).toBe(ENOENT);
});

it('throws the reason of a call that failed, and returns what others answered', () => {
  expect(() => checkResult(libc, libc.close(-1), 'close')).toThrow(
    expect.objectContaining({ errno: EBADF, syscall: 'close' }),
  );
  expect(checkResult(libc, libc.kill(process.pid, 0), 'kill')).toBe(0);
});
