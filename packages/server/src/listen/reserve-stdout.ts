import { Console } from 'node:console';
import type { Writable } from 'node:stream';

/** The process's stdout, kept for one writer. */
export interface ReservedStdout {
  readonly stdout: Writable;
  /** Gives stdout back to everybody. */
  release(): void;
}

/**
 * Takes stdout away from the rest of the program: `process.stdout` and `console` mean stderr until it is released.
 * One stray line of a dependency would otherwise be a broken message to the client.
 */
export function reserveStdout(): ReservedStdout {
  const { stdout, stderr } = process;
  const ownProperty = Object.getOwnPropertyDescriptor(process, 'stdout');
  const ownConsole = { ...console };
  Object.defineProperty(process, 'stdout', { configurable: true, enumerable: true, get: () => stderr });
  // The global console keeps the stream that it first wrote to, so its methods are replaced as well.
  Object.assign(console, pickMethods(new Console({ stdout: stderr, stderr })));
  return {
    stdout,
    release() {
      Object.assign(console, ownConsole);
      if (ownProperty !== undefined) Object.defineProperty(process, 'stdout', ownProperty);
    },
  };
}

function pickMethods(console: Console): Partial<Console> {
  return Object.fromEntries(Object.entries(console).filter(([, value]) => typeof value === 'function'));
}
