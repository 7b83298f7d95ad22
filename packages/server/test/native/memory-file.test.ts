import { readFileSync, readlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createMemoryFile, hasMemoryFiles } from '../../src/native/memory-file.js';

describe.runIf(hasMemoryFiles())('a memory file', () => {
  it('holds its contents, has no path, and ends with its descriptor', () => {
    const contents = Buffer.alloc(300_000, 'state\0');
    const file = createMemoryFile(contents);
    const link = `/proc/self/fd/${file.fd}`;
    expect(readFileSync(link).equals(contents)).toBe(true);
    expect(readlinkSync(link)).toBe('/memfd:exec-server (deleted)');
    file.close();
    expect(() => readlinkSync(link)).toThrow('ENOENT');
  });

  it('may be empty', () => {
    const file = createMemoryFile(new Uint8Array());
    expect(readFileSync(`/proc/self/fd/${file.fd}`).length).toBe(0);
    file.close();
  });
});
