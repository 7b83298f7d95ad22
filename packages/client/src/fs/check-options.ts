import { ExecServerError } from '../errors.js';

/** Throws `usage` for an option that an operation does not have, so that none is accepted and ignored. */
export function checkOptions(operation: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const offered = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`;
    throw new ExecServerError('usage', `${operation} has no option \`${name}\`: ${offered}`);
  }
}
