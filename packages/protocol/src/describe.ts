/** How much of a refused string an error repeats, in characters. */
const MAX_QUOTED_CHARS = 256;

const ESCAPES: Readonly<Record<string, string>> = { '\0': '\\0', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Names a JSON value in an error as its kind, with the value itself where that helps. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'boolean') return `boolean \`${value}\``;
  if (typeof value === 'number') return 'number';
  if (typeof value === 'string') return `string ${quote(value)}`;
  return Array.isArray(value) ? 'sequence' : 'map';
}

function quote(text: string): string {
  const shown = text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS)}…` : text;
  return `"${shown.replace(/["\\]/g, '\\$&').replace(/[^\u0020-\u007e\u0080-\uffff]/g, escapeControl)}"`;
}

function escapeControl(character: string): string {
  return ESCAPES[character] ?? `\\u{${character.charCodeAt(0).toString(16)}}`;
}

/** `expected …` for a choice among names. */
export function describeVariants(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``);
  return quoted.length > 2 ? `one of ${quoted.join(', ')}` : quoted.join(' or ');
}
