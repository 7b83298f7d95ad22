import type { FileType } from '@exec-server/client';
import { expect, it } from 'vitest';
import { toModeText } from '../../src/files/mode-text.js';

it.each<[FileType, number | undefined, string]>([
  ['file', 0o100644, '-rw-r--r--'],
  ['directory', 0o040755, 'drwxr-xr-x'],
  ['symlink', 0o120777, 'lrwxrwxrwx'],
  ['other', 0o000, '?---------'],
  ['file', 0o4755, '-rwsr-xr-x'],
  ['file', 0o2644, '-rw-r-Sr--'],
  ['directory', 0o1777, 'drwxrwxrwt'],
  ['directory', 0o1770, 'drwxrwx--T'],
  ['file', undefined, '-?????????'],
])('%s %o: %s', (type, mode, text) => {
  expect(toModeText(type, mode)).toBe(text);
});
