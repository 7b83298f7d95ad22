import { expect, test } from 'vitest';
import { DeferredLogger } from '../../src/telemetry/deferred-logger.js';
import { type Logger, silentLogger } from '../../src/telemetry/logger.js';

function setUp() {
  const made: object[] = [];
  const lines: unknown[] = [];
  const make = (fields: object): Logger => {
    made.push(fields);
    return {
      ...silentLogger,
      warn: (more, message) => void lines.push(['warn', { ...fields, ...more }, message]),
      error: (more, message) => void lines.push(['error', { ...fields, ...more }, message]),
      child: (more) => make({ ...fields, ...more }),
    };
  };
  const logger = new DeferredLogger(
    (level) => level === 'warn' || level === 'error',
    () => make({}),
  );
  return { logger, made, lines };
}

test('a logger is made with the first line that is written, once', () => {
  const { logger, made, lines } = setUp();
  logger.debug({}, 'unheard');
  logger.info({}, 'unheard');
  expect(made).toEqual([]);
  logger.warn({ a: 1 }, 'first');
  logger.error({ b: 2 }, 'second');
  expect(made).toEqual([{}]);
  expect(lines).toEqual([
    ['warn', { a: 1 }, 'first'],
    ['error', { b: 2 }, 'second'],
  ]);
});

test('so is a child, with the fields of all above it', () => {
  const { logger, made, lines } = setUp();
  const child = logger.child({ connection: 1 }).child({ process: 'p' });
  child.info({}, 'unheard');
  expect(made).toEqual([]);
  child.warn({ a: 1 }, 'heard');
  expect(lines).toEqual([['warn', { connection: 1, process: 'p', a: 1 }, 'heard']]);
});
