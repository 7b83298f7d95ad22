import type { Readable, Writable } from 'node:stream';

/** The signals that ask a server to end. */
export const END_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
export type EndSignal = (typeof END_SIGNALS)[number];

/** Where a command reads: a terminal, a pipe, a file. */
export interface InputStream extends Readable {
  readonly isTTY?: boolean;
  /** Its descriptor, where it has one. */
  readonly fd?: number;
  /** Terminals only: whether keys arrive as they are typed, uninterpreted. */
  setRawMode?(raw: boolean): unknown;
}

/** Where a command writes. A terminal has a size, and says `resize` when that changes. */
export interface OutputStream extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** What a command touches of the process it runs in. */
export interface CommandIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Hears every end signal from now on. Returns how to stop. */
  onEndSignal(listener: (signal: EndSignal) => void): () => void;
  /** Hears when the process goes on after it was stopped. Returns how to stop. */
  onContinued(listener: () => void): () => void;
  /** Hears errors that nobody caught from now on, which then no longer end the process. Returns how to stop. */
  onUncaught(listener: (error: unknown) => void): () => void;
  /** Hears rejections that nobody handles from now on, which then no longer end the process. Returns how to stop. */
  onUnhandledRejection(listener: (reason: unknown) => void): () => void;
  /** Ends the process at once. */
  exit(code: number): void;
}

export function createProcessIo(): CommandIo {
  const { stdin, stdout, stderr } = process;
  // Whoever reads our output may leave before we do; that is no reason to end.
  for (const stream of [stdout, stderr]) stream.on('error', () => {});
  return {
    env: process.env,
    stdin,
    stdout,
    stderr,
    onEndSignal(listener) {
      for (const signal of END_SIGNALS) process.on(signal, listener);
      return () => {
        for (const signal of END_SIGNALS) process.off(signal, listener);
      };
    },
    onContinued(listener) {
      process.on('SIGCONT', listener);
      return () => void process.off('SIGCONT', listener);
    },
    onUncaught(listener) {
      process.on('uncaughtException', listener);
      return () => void process.off('uncaughtException', listener);
    },
    onUnhandledRejection(listener) {
      process.on('unhandledRejection', listener);
      return () => void process.off('unhandledRejection', listener);
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
