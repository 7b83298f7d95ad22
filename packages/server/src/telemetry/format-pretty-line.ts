import { escapeControls } from './escape-controls.js';

const COLOR_OF_LEVEL: Readonly<Record<string, number>> = { debug: 90, info: 32, warn: 33, error: 31 };
const DIM = 2;

/** Values that can stand without quotes and cannot be mistaken for anything else. */
const PLAIN_VALUE = /^[\w./:@+-]+$/;

interface LogRecord {
  readonly level: string;
  readonly time: string;
  readonly msg?: string;
  readonly err?: { readonly stack?: string; readonly message?: string };
  readonly [field: string]: unknown;
}

/** Turns a JSON log line into one for people: `12:30:01.250 WARN  message key=value`, a stack on lines of its own. */
export function formatPrettyLine(line: string, colors: boolean): string {
  const { level, time, msg = '', err, ...fields } = JSON.parse(line) as LogRecord;
  const paint = (code: number | undefined, text: string) =>
    colors && code !== undefined ? `\u001b[${code}m${text}\u001b[0m` : text;
  const head = [
    paint(DIM, time.slice('YYYY-MM-DDT'.length, -'Z'.length)),
    paint(COLOR_OF_LEVEL[level], level.toUpperCase().padEnd('ERROR'.length)),
    escapeControls(msg),
  ];
  const pairs = Object.entries(fields).map(
    ([name, value]) => `${paint(DIM, `${escapeControls(name)}=`)}${formatValue(value)}`,
  );
  return `${[...head, ...pairs].join(' ')}\n${formatError(err)}`;
}

function formatValue(value: unknown): string {
  if (typeof value === 'string' && PLAIN_VALUE.test(value)) return value;
  return escapeControls(JSON.stringify(value));
}

function formatError(err: LogRecord['err']): string {
  const text = err?.stack ?? err?.message;
  if (text === undefined) return '';
  return text
    .split('\n')
    .map((row) => `    ${escapeControls(row.trim())}\n`)
    .join('');
}
