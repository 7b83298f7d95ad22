/**
 * Characters that could move the cursor, start a new line, turn the direction of what follows, or not be seen at all:
 * controls, line and paragraph separators, and whatever Unicode shows as nothing.
 */
const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const UNIT_DIGITS = 4;

/** Writes them as JSON does, so that JSON text stays what it is. */
export function escapeControls(text: string): string {
  return text.replace(INVISIBLE_CHARACTERS, (character) =>
    // One character may be two units, which JSON writes one after the other.
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(UNIT_DIGITS, '0')}`,
    ).join(''),
  );
}
