import { pino } from 'pino';
import { DeferredLogger } from './deferred-logger.js';
import { escapeControls } from './escape-controls.js';
import { formatPrettyLine } from './format-pretty-line.js';
import type { Logger } from './logger.js';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ['json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Where finished lines go, newline included. Called before the logging call returns. */
export interface LogDestination {
  write(line: string): void;
}

export interface CreateLoggerOptions {
  /** Least severe level that is written. */
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** @default stderr */
  readonly destination?: LogDestination;
  /** Colours of the pretty format. @default false */
  readonly colors?: boolean;
}

/** A logger that writes one line per event. What writes them is made with the first: most servers never have one. */
export function createLogger(options: CreateLoggerOptions): Logger {
  const leastSevere = LOG_LEVELS.indexOf(options.level);
  return new DeferredLogger(
    (level) => LOG_LEVELS.indexOf(level) >= leastSevere,
    () => createPinoLogger(options),
  );
}

function createPinoLogger(options: CreateLoggerOptions): Logger {
  const destination = options.destination ?? createStderrDestination();
  const { colors = false } = options;
  const isPretty = options.format === 'pretty';
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    {
      write: (line) =>
        destination.write(isPretty ? formatPrettyLine(line, colors) : `${escapeControls(line.trimEnd())}\n`),
    },
  );
}

/** Characters that wait for a reader of stderr before further lines are dropped. */
export const MAX_WAITING_LOG_CHARACTERS = 1024 * 1024;

/**
 * Writes to a stream, stderr by default, and never waits for it: whoever started us may not read its pipe, and a log
 * must not stop the server. Lines that found no room are counted, and the count is written when there is room again.
 */
export function createStderrDestination(stream: NodeJS.WritableStream = process.stderr): LogDestination {
  let dropped = 0;
  // A reader that has gone is no reason to end.
  stream.on('error', () => {});
  return {
    write(line) {
      if (waitingCharacters(stream) + line.length > MAX_WAITING_LOG_CHARACTERS) {
        dropped += 1;
        return;
      }
      if (dropped > 0) {
        stream.write(`${JSON.stringify({ level: 'warn', dropped, msg: 'log lines were dropped' })}\n`);
        dropped = 0;
      }
      stream.write(line);
    },
  };
}

function waitingCharacters(stream: NodeJS.WritableStream & { writableLength?: number }): number {
  return stream.writableLength ?? 0;
}
