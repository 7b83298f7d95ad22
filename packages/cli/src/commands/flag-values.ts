import { UsageError } from '../usage-error.js';

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** What durations look like, for help. */
export const DURATION_HELP = '500ms, 30s, 5m, 2h, 1d; a bare number is seconds';

/** A duration in milliseconds, such as `1.5s`. */
export function parseDuration(flags: string): (text: string) => number {
  return (text) => {
    const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? [];
    if (amount === undefined)
      throw new UsageError(
        `invalid value '${text}' for '${flags}': expected a duration, such as ${DURATION_HELP}`,
      );
    return Math.round(Number(amount) * (UNIT_MS[unit] ?? 1));
  };
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
