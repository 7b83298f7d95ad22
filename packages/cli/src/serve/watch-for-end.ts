import { constants } from 'node:os';
import type { Listener, Logger } from '@exec-server/server';
import type { CommandIo } from '../command-io.js';
import { SIGNAL_EXIT_BASE } from '../exit-codes.js';

/** Collects the reasons for which a server ends. */
export interface EndWatch {
  /** The exit code of the first reason. */
  readonly end: Promise<number>;
  /** Makes the end of this listener a reason. */
  endWith(listener: Listener): void;
  /** Leaves signals and errors to others again. */
  stop(): void;
}

/**
 * Watches for reasons to end: a signal (code 0), the end of a listener such as stdio (0), an error that nobody
 * caught (1). A second signal ends the process at once with 128 plus its number, whatever still runs.
 *
 * A rejection that nobody handles is no such reason. An error that nobody caught has cut short whatever called the code
 * that threw it, so that nothing can be said of the state of the rest. A rejection has cut short one asynchronous
 * function and whoever waits for it, and nobody does: the others, and their processes, go on as they were.
 */
export function watchForEnd(io: CommandIo, logger: Logger): EndWatch {
  let resolveEnd: (exitCode: number) => void = () => {};
  const end = new Promise<number>((resolve) => {
    resolveEnd = resolve;
  });
  let signals = 0;
  const stopSignals = io.onEndSignal((signal) => {
    signals += 1;
    if (signals > 1) return io.exit(SIGNAL_EXIT_BASE + constants.signals[signal]);
    logger.info({ signal }, 'shutting down');
    resolveEnd(0);
  });
  const stopUncaught = io.onUncaught((err) => {
    logger.error({ err }, 'uncaught error');
    resolveEnd(1);
  });
  const stopRejections = io.onUnhandledRejection((err) => {
    logger.error({ err }, 'a rejection was not handled: one operation did not finish');
  });
  return {
    end,
    endWith: (listener) => void listener.ended.then(() => resolveEnd(0)),
    stop() {
      stopSignals();
      stopUncaught();
      stopRejections();
    },
  };
}
