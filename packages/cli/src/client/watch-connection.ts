import type { Machine } from '@exec-server/client';
import { CommandError } from '../command-error.js';
import type { CommandIo } from '../command-io.js';
import { toPrintable } from './printable.js';

/** A connection that is lost for so long is told, in milliseconds; a shorter loss is nobody's business. */
const TELL_AFTER_MS = 1000;

/** What Ctrl-C is where keys arrive as they are typed. */
const CTRL_C = 0x03;

/** Typed keys that wait for a connection, in bytes. Beyond them nothing is read until it stands. */
const MAX_WAITING_BYTES = 64 * 1024;

/** A connection that is watched for the person at the command line. */
export interface WatchedMachine {
  /** Rejects when that person does not want to wait for it any longer. */
  readonly left: Promise<never>;
  /** True while there is no connection. Then a signal leaves. */
  readonly isLost: boolean;
  leave(): void;
  /** Passes typed input on and looks out for Ctrl-C while there is no connection. */
  watchKeys(typed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
  stop(): void;
}

/** Says when a connection is lost, and lets its user leave. */
export function watchConnection(
  machine: Pick<Machine, 'on' | 'state'>,
  io: Pick<CommandIo, 'stdin' | 'stderr'>,
  id: string,
): WatchedMachine {
  let timer: NodeJS.Timeout | undefined;
  let wasTold = false;
  // In raw mode the cursor does not go back to the left by itself.
  const say = (text: string) => io.stderr.write(`\r\nexec-server: ${text}\r\n`);
  const stopStates = machine.on('state', (state) => {
    clearTimeout(timer);
    if (state === 'reconnecting')
      timer = setTimeout(() => {
        wasTold = true;
        say('connection lost; reconnecting… (Ctrl-C leaves)');
      }, TELL_AFTER_MS);
    if (state === 'connected' && wasTold) {
      wasTold = false;
      say('connected again');
    }
  });
  let reject: (error: Error) => void = () => {};
  const left = new Promise<never>((_, refuse) => {
    reject = refuse;
  });
  // Nobody may be waiting for it.
  left.catch(() => {});
  const watched: WatchedMachine = {
    left,
    get isLost() {
      return machine.state === 'reconnecting';
    },
    leave: () =>
      reject(
        new CommandError('left while the server could not be reached', {
          hint: `What became of the command is not known; once the server is back: exec-server inspect ${toPrintable(id)}`,
        }),
      ),
    async *watchKeys(typed) {
      for await (const keys of readAhead(typed, MAX_WAITING_BYTES, (data) => {
        if (watched.isLost && data.includes(CTRL_C)) watched.leave();
      }))
        yield keys;
    },
    stop() {
      clearTimeout(timer);
      stopStates();
    },
  };
  return watched;
}

/** The same items, each shown to `look` as soon as it comes, also while nobody takes those before it. */
async function* readAhead(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
  look: (data: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  const waiting: Uint8Array[] = [];
  let bytes = 0;
  let isOver = false;
  let failure: { readonly error: unknown } | undefined;
  let wake = () => {};
  let reading: Promise<void> | undefined;
  const read = () => {
    if (reading !== undefined || isOver || bytes >= maxBytes) return;
    reading = iterator.next().then(
      ({ done, value }) => {
        reading = undefined;
        if (done === true) isOver = true;
        else {
          waiting.push(value);
          bytes += value.length;
          look(value);
          read();
        }
        wake();
      },
      (error: unknown) => {
        reading = undefined;
        isOver = true;
        failure = { error };
        wake();
      },
    );
  };
  try {
    for (;;) {
      read();
      const next = waiting.shift();
      if (next !== undefined) {
        bytes -= next.length;
        yield next;
      } else if (failure !== undefined) throw failure.error;
      else if (isOver) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    isOver = true;
    // A read that waits for a key ends with the terminal, or never.
    if (reading === undefined) await iterator.return?.();
    else void iterator.return?.();
  }
}
