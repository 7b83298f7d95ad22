import { usageError } from './usage.js';

/** Throws `usage` for an option that an operation does not have, so that none is accepted and ignored. */
export function checkOptions(operation: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    throw usageError(`${operation} has no option \`${name}\`; it takes ${known.join(', ')}`);
  }
}
