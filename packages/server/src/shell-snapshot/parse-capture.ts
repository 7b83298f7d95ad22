import { isUtf8 } from 'node:buffer';
import { CAPTURE_PARTS, type CapturePart } from './capture-script.js';

/** What a login shell printed about itself. Text has one character per byte. */
export interface Capture {
  readonly parts: Readonly<Record<CapturePart, string>>;
  /** Exported variables. */
  readonly environment: ReadonlyMap<string, string>;
}

/** The capture in a shell's output, or nothing when it is not complete. */
export function parseCapture(output: Buffer, nonce: string): Capture | undefined {
  const [, ...texts] = output.toString('latin1').split(`\0${nonce}\0`);
  // Behind the last mark comes what the shell prints when it ends.
  if (texts.length !== CAPTURE_PARTS.length + 1) return undefined;
  const parts = Object.fromEntries(
    CAPTURE_PARTS.map((part, index) => [part, texts[index]]),
  ) as Capture['parts'];
  const environment = parseEnvironment(parts.environment);
  // No shell is without variables: the program that prints them could not be run.
  return environment.size === 0 ? undefined : { parts, environment };
}

/** Variables that are no text are left out: a plan cannot carry them. */
function parseEnvironment(text: string): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const entry of text.split('\0')) {
    const bytes = Buffer.from(entry, 'latin1');
    const variable = bytes.toString();
    const equals = variable.indexOf('=');
    if (equals > 0 && isUtf8(bytes)) variables.set(variable.slice(0, equals), variable.slice(equals + 1));
  }
  return variables;
}
