import type { CommandIo } from '../command-io.js';

/** What a terminal would take for an order, what turns the direction of what follows, and what cannot be seen. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Text of others on one line, with everything in it to be seen. */
export function toPrintable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** The same for text of several lines. */
export function toPrintableLines(text: string): string {
  return text.split('\n').map(toPrintable).join('\n');
}

/** JSON in which everything can be seen, and that says the same. Line ends between its parts stay. */
export function toPrintableJson(json: string): string {
  return json.replace(UNPRINTABLE, (character) => (character === '\n' ? character : escapeUnits(character)));
}

/** One character may be two units, which JSON writes one after the other. */
function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** Writes the id of a process: as it is for programs, for which it is a name; on a terminal so that it can be seen. */
export function writeId({ stdout }: Pick<CommandIo, 'stdout'>, id: string): void {
  stdout.write(`${stdout.isTTY === true ? toPrintable(id) : id}\n`);
}
