import { randomBytes } from 'node:crypto';
import { LogArchive } from '@exec-server/testing';

let archive: LogArchive | undefined;

/** Gives every server that a test starts a secret in its environment. */
export function setup(): void {
  archive = new LogArchive(`canary-${randomBytes(16).toString('hex')}`);
}

/** Fails the run if one of them told it. */
export function teardown(): void {
  const leaks = archive?.findLeaks() ?? [];
  archive?.remove();
  if (leaks.length === 0) return;
  // An error that is thrown here is printed and changes nothing else.
  process.exitCode = 1;
  throw new Error(`secrets were logged:\n${leaks.join('\n')}`);
}
