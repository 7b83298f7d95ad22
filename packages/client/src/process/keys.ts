import { usageError } from '../usage.js';

const ESCAPE = '\u001b';

/** Keys that have a name, and what a terminal sends for them. */
const NAMED_KEYS: Readonly<Record<string, string>> = {
  Enter: '\r',
  Tab: '\t',
  Space: ' ',
  Escape: ESCAPE,
  Backspace: '\u007f',
  Delete: `${ESCAPE}[3~`,
  Insert: `${ESCAPE}[2~`,
  Up: `${ESCAPE}[A`,
  Down: `${ESCAPE}[B`,
  Right: `${ESCAPE}[C`,
  Left: `${ESCAPE}[D`,
  Home: `${ESCAPE}[H`,
  End: `${ESCAPE}[F`,
  PageUp: `${ESCAPE}[5~`,
  PageDown: `${ESCAPE}[6~`,
  F1: `${ESCAPE}OP`,
  F2: `${ESCAPE}OQ`,
  F3: `${ESCAPE}OR`,
  F4: `${ESCAPE}OS`,
  F5: `${ESCAPE}[15~`,
  F6: `${ESCAPE}[17~`,
  F7: `${ESCAPE}[18~`,
  F8: `${ESCAPE}[19~`,
  F9: `${ESCAPE}[20~`,
  F10: `${ESCAPE}[21~`,
  F11: `${ESCAPE}[23~`,
  F12: `${ESCAPE}[24~`,
};

/** Bits of a letter that Ctrl leaves. */
const CONTROL_MASK = 0x1f;

/** What a terminal sends for keys: characters, names such as `Enter` or `Up`, `C-c` for Ctrl, `M-x` for Alt. */
export function toKeyText(keys: readonly string[]): string {
  return keys.map(toText).join('');
}

function toText(key: string): string {
  if (Object.hasOwn(NAMED_KEYS, key)) return NAMED_KEYS[key] as string;
  if (Array.from(key).length === 1) return key;
  if (key.startsWith('M-') && key.length > 2) return `${ESCAPE}${toText(key.slice(2))}`;
  const control = key.length === 3 && key.startsWith('C-') ? key.charAt(2).toUpperCase() : '';
  if (control === '?') return '\u007f';
  if (control === ' ') return '\0';
  if (control >= '@' && control <= '_') return String.fromCharCode(control.charCodeAt(0) & CONTROL_MASK);
  throw usageError(
    `\`${key}\` is no key: give one character, C- or M- before one, or ${Object.keys(NAMED_KEYS).join(', ')}; text is typed by \`write\``,
  );
}
