import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished, vi } from 'vitest';

/** Counts, from here to the end of the test, the looks at all processes of the system. */
export function countProcessLooks(): () => number {
  const readdir = vi.spyOn(fs, 'readdirSync');
  syncBuiltinESMExports();
  onTestFinished(() => {
    readdir.mockRestore();
    syncBuiltinESMExports();
  });
  return () => readdir.mock.calls.filter(([path]) => path === '/proc').length;
}
