import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import {
  createLogger,
  createStderrDestination,
  LOG_LEVELS,
  type LogLevel,
  MAX_WAITING_LOG_CHARACTERS,
} from '../../src/telemetry/create-logger.js';

function capture(level: LogLevel, format: 'json' | 'pretty' = 'json') {
  const lines: string[] = [];
  const logger = createLogger({ level, format, destination: { write: (line) => lines.push(line) } });
  return { logger, lines };
}

it('writes one JSON object per line, with ISO time and the level by name', () => {
  const { logger, lines } = capture('debug');
  logger.child({ session: 's1' }).warn({ pid: 7 }, 'two\nlines');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[^\n]*\n$/);
  const record = JSON.parse(lines[0] ?? '');
  expect(record).toEqual({
    level: 'warn',
    time: expect.any(String),
    session: 's1',
    pid: 7,
    msg: 'two\nlines',
  });
  expect(new Date(record.time).toISOString()).toBe(record.time);
});

it('writes an error with its stack', () => {
  const { logger, lines } = capture('error');
  logger.error({ err: new Error('boom') }, 'failed');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ err: { message: 'boom', stack: expect.any(String) } });
});

it.each(LOG_LEVELS.map((level, index) => [level, index] as const))(
  '%s leaves out what is less severe',
  (level, index) => {
    const { logger, lines } = capture(level);
    for (const severity of ['debug', 'info', 'warn', 'error'] as const) logger[severity]({}, severity);
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(LOG_LEVELS.slice(index, -1));
  },
);

it.each(['json', 'pretty'] as const)('shows what turns text around or hides it: %s', (format) => {
  const { logger, lines } = capture('info', format);
  logger.info({ processId: '\u202ep\u200b', 'k\u2066': '\u009b2J' }, 'm\u202e');
  expect(lines[0]).toMatch(/^[\x20-\x7e]+\n$/);
  expect(lines[0]).toContain('\\u202ep\\u200b');
});

it('writes lines for people', () => {
  const { logger, lines } = capture('info', 'pretty');
  logger.info({ remote: '127.0.0.1:5' }, 'connected');
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}connected remote=127\.0\.0\.1:5\n$/);
});

describe('a reader that does not read', () => {
  it.each([
    [MAX_WAITING_LOG_CHARACTERS - 1, true],
    [MAX_WAITING_LOG_CHARACTERS, true],
    [MAX_WAITING_LOG_CHARACTERS + 1, false],
  ])('lets %d characters wait: %s', (characters, isKept) => {
    const blocked = new Writable({ decodeStrings: false, write() {} });
    const destination = createStderrDestination(blocked);
    destination.write('a'.repeat(characters - 1));
    destination.write('b');
    expect(blocked.writableLength).toBe(isKept ? characters : characters - 1);
  });

  it('is told how many lines it missed', () => {
    const written: string[] = [];
    let takeOn = () => {};
    const stream = new Writable({
      decodeStrings: false,
      write(line: string, _encoding, done) {
        written.push(line);
        takeOn = done;
      },
    });
    const destination = createStderrDestination(stream);
    destination.write('a'.repeat(MAX_WAITING_LOG_CHARACTERS));
    destination.write('lost\n');
    destination.write('lost\n');
    takeOn();
    destination.write('seen\n');
    takeOn();
    expect(written.slice(1)).toEqual([
      '{"level":"warn","dropped":2,"msg":"log lines were dropped"}\n',
      'seen\n',
    ]);
  });

  it('may go away', () => {
    const stream = new PassThrough();
    const destination = createStderrDestination(stream);
    stream.destroy(new Error('EPIPE'));
    destination.write('x\n');
  });
});
