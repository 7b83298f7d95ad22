import { TomlDate } from 'smol-toml';
import { isTable, type TomlTable, type TomlValue } from './toml-table.js';

const BARE_KEY = /^[A-Za-z0-9_-]+$/;
/** What a literal string cannot hold. */
const UNQUOTABLE = /['\p{Cc}]/u;

/** Writes a table as a document: plain members first, then tables, in the order that they have. */
export function formatToml(table: TomlTable): string {
  const sections: string[] = [];
  writeTable(table, [], '', sections);
  return sections.join('\n');
}

function writeTable(table: TomlTable, path: readonly string[], header: string, sections: string[]): void {
  const entries = Object.entries(table);
  const plain = entries.filter(([, value]) => !isSection(value));
  const lines = plain.map(([key, value]) => `${formatKey(key)} = ${formatValue(value)}\n`).join('');
  // A table that only holds tables is named by them.
  const implied = header.startsWith('[') && !header.startsWith('[[') && plain.length < entries.length;
  if (lines !== '' || (header !== '' && !implied)) sections.push(header + lines);
  for (const [key, value] of entries) {
    const name = [...path, formatKey(key)];
    if (isTable(value)) writeTable(value, name, `[${name.join('.')}]\n`, sections);
    else if (isSection(value)) {
      for (const element of value) writeTable(element, name, `[[${name.join('.')}]]\n`, sections);
    }
  }
}

/** Whether a value gets headers of its own: a table, or a list of nothing but tables. */
function isSection(value: TomlValue): value is TomlTable | TomlTable[] {
  return isTable(value) || (Array.isArray(value) && value.length > 0 && value.every(isTable));
}

function formatKey(key: string): string {
  if (BARE_KEY.test(key)) return key;
  return key.includes('\n') ? quoteBasic(key) : formatLine(key);
}

function formatValue(value: TomlValue): string {
  if (typeof value === 'string') return value.includes('\n') ? formatLines(value) : formatLine(value);
  if (typeof value === 'number') return formatFloat(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof TomlDate) return formatDate(value);
  if (Array.isArray(value)) return `[${value.map(formatValue).join(', ')}]`;
  const members = Object.entries(value).map(([key, member]) => `${formatKey(key)} = ${formatValue(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** The shortest form of the same time: no zeros at the end of its fraction. */
function formatDate(date: TomlDate): string {
  return date.toISOString().replace(/\.\d+/, (fraction) => String(Number(fraction)).slice(1));
}

function formatLine(text: string): string {
  const literal = /["\\]/.test(text) && !UNQUOTABLE.test(text);
  return literal ? `'${text}'` : quoteBasic(text);
}

function formatLines(text: string): string {
  const escaped = text.split('\n').map((line) => escapeBasic(line).replaceAll('\\"', '"'));
  // Three quotes in a row would end the string; so would one at its end.
  const closed = escaped.join('\n').replaceAll(/""|"$/g, (quotes) => `${quotes.slice(1)}\\"`);
  return `"""\n${closed}"""`;
}

function quoteBasic(text: string): string {
  return `"${escapeBasic(text)}"`;
}

/** JSON escapes what TOML wants escaped, and nothing that TOML does not know; DEL is the one that it leaves alone. */
function escapeBasic(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('\u007f', '\\u007f');
}

function formatFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const [digits = '', exponent] = String(value).split('e');
  const plain = exponent === undefined ? digits : expandExponent(digits, Number(exponent));
  return plain.includes('.') ? plain : `${plain}.0`;
}

function expandExponent(digits: string, exponent: number): string {
  const sign = digits.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = digits.slice(sign.length).split('.');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - whole.length)}${whole}${fraction}`;
  return `${sign}${whole}${fraction.padEnd(exponent, '0')}`;
}
