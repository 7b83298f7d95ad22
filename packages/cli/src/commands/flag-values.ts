import { DURATION_HELP, duration } from '../option-values.js';
import { UsageError } from '../usage-error.js';

export { DURATION_HELP };

/** A duration in milliseconds, such as `1.5s`. */
export function parseDuration(flags: string): (text: string) => number {
  return (text) => duration.fromText(text, flags);
}

/** Collects what a repeatable flag is given. */
export function collect(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text];
}

/** Collects `KEY=VALUE` pairs. */
export function collectPairs(
  flags: string,
): (text: string, earlier?: Readonly<Record<string, string>>) => Readonly<Record<string, string>> {
  return (text, earlier = {}) => {
    const separator = text.indexOf('=');
    if (separator <= 0) throw new UsageError(`invalid value '${text}' for '${flags}': expected KEY=VALUE`);
    return { ...earlier, [text.slice(0, separator)]: text.slice(separator + 1) };
  };
}
