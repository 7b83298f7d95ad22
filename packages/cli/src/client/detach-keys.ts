import { UsageError } from '../usage-error.js';

/** Keys that leave a terminal where nobody says: those that users of docker know. */
export const DEFAULT_DETACH_KEYS = 'ctrl-p,ctrl-q';

/** Ctrl clears the upper three bits of a key. */
const CONTROL_MASK = 0x1f;

/** The bytes of keys such as `ctrl-p,ctrl-q` or `ctrl-],x`; none for `none`. */
export function parseDetachKeys(text: string): Uint8Array {
  if (text === 'none') return new Uint8Array();
  return Uint8Array.from(text.split(','), (key) => {
    const control = /^ctrl-([a-z@[\\\]^_])$/.exec(key)?.[1];
    if (control !== undefined) return control.toUpperCase().charCodeAt(0) & CONTROL_MASK;
    if (/^[!-~]$/.test(key)) return key.charCodeAt(0);
    throw new UsageError(
      `invalid value '${text}' for '--detach-keys <KEYS>': expected keys such as ${DEFAULT_DETACH_KEYS}, or none`,
    );
  });
}

/**
 * Passes on what is typed until the keys come, and then calls `onDetach` and ends. Keys that may be the beginning are
 * held back until the next one tells.
 */
export async function* untilDetachKeys(
  input: AsyncIterable<Uint8Array>,
  keys: Uint8Array,
  onDetach: () => void,
): AsyncGenerator<Uint8Array> {
  let matched = 0;
  for await (const chunk of input) {
    const passed: number[] = [];
    for (const byte of chunk) {
      if (matched > 0 && byte !== keys[matched]) {
        passed.push(...keys.subarray(0, matched));
        matched = 0;
      }
      if (byte === keys[matched]) matched += 1;
      else passed.push(byte);
      if (matched > 0 && matched === keys.length) {
        yield Uint8Array.from(passed);
        return onDetach();
      }
    }
    if (passed.length > 0) yield Uint8Array.from(passed);
  }
}
