import type { Writable } from 'node:stream';

/** The signals that ask a server to end. */
export const END_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
export type EndSignal = (typeof END_SIGNALS)[number];

/** What a command touches of the process it runs in. */
export interface CommandIo {
  readonly stdin: { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  /** Hears every end signal from now on. Returns how to stop. */
  onEndSignal(listener: (signal: EndSignal) => void): () => void;
  /** Hears errors that nobody caught from now on, which then no longer end the process. Returns how to stop. */
  onUncaught(listener: (error: unknown) => void): () => void;
  /** Ends the process at once. */
  exit(code: number): void;
}

export function createProcessIo(): CommandIo {
  const { stdin, stdout, stderr } = process;
  // Whoever reads our output may leave before we do; that is no reason to end.
  for (const stream of [stdout, stderr]) stream.on('error', () => {});
  return {
    stdin,
    stdout,
    stderr,
    onEndSignal(listener) {
      for (const signal of END_SIGNALS) process.on(signal, listener);
      return () => {
        for (const signal of END_SIGNALS) process.off(signal, listener);
      };
    },
    onUncaught(listener) {
      process.on('uncaughtException', listener);
      return () => void process.off('uncaughtException', listener);
    },
    exit: (code) => process.exit(code),
  };
}

/** How long an ending command waits for somebody to read what it wrote. */
const FLUSH_TIMEOUT_MS = 300;

/** Resolves when what was written so far has been read, or will not be. */
export async function flushOutput(io: Pick<CommandIo, 'stdout' | 'stderr'>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, FLUSH_TIMEOUT_MS);
  });
  await Promise.race([Promise.all([flush(io.stdout), flush(io.stderr)]), timeout]);
  clearTimeout(timer);
}

function flush(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0 || stream.destroyed) resolve();
    else stream.write('', () => resolve());
  });
}
