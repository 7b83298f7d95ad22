import { type Row, toText } from '../rows/row.js';

/** Text as it is, or a column. */
type Part = { readonly text: string } | { readonly column: string };

/** A text with placeholders, read once. */
export class Template {
  readonly #parts: readonly Part[];

  /**
   * `{column}` stands for the row's value; `{{` and `}}` are braces. What names no column stays as it is. A column whose
   * name has a brace in it cannot be named.
   */
  constructor(text: string, columns: ReadonlySet<string>) {
    this.#parts = split(text, columns);
  }

  /** Fills in a row. Values are taken as they are: braces in them mean nothing. */
  fill(row: Row): string {
    return this.#parts
      .map((part) =>
        'text' in part ? part.text : toText(Object.hasOwn(row, part.column) ? row[part.column] : ''),
      )
      .join('');
  }
}

function split(text: string, columns: ReadonlySet<string>): Part[] {
  const parts: Part[] = [];
  let at = 0;
  while (at < text.length) {
    const brace = nextBrace(text, at);
    if (brace > at) parts.push({ text: text.slice(at, brace) });
    if (brace === text.length) break;
    const character = text.charAt(brace);
    if (text.charAt(brace + 1) === character) {
      parts.push({ text: character });
      at = brace + 2;
      continue;
    }
    const end = nextBrace(text, brace + 1);
    const name = text.slice(brace + 1, end);
    if (character === '{' && text.charAt(end) === '}' && columns.has(name)) {
      parts.push({ column: name });
      at = end + 1;
      continue;
    }
    parts.push({ text: character });
    at = brace + 1;
  }
  return parts;
}

/** Where the next brace is, or the end. */
function nextBrace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charAt(at) !== '{' && text.charAt(at) !== '}') at++;
  return at;
}
