import { fileURLToPath } from 'node:url';

/** Starts this command again, in a process of its own; its arguments follow. */
export const OWN_PROGRAM: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL('../bin/exec-server.js', import.meta.url)),
];
