/** Characters that could move the cursor, start a new line or hide text in a terminal. */
const CONTROL_CHARACTERS = /[\p{Cc}\u2028\u2029]/gu;

/** Writes them as JSON does, so that JSON text stays what it is. */
export function escapeControls(text: string): string {
  return text.replace(CONTROL_CHARACTERS, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return `\\u${code.padStart(4, '0')}`;
  });
}
