import { fileURLToPath } from 'node:url';
import { resolveLimits, type ServerLimitOptions, type ServerLimits } from './options.js';

/** Where settings come from: what is built in, a file, or what the server was started with. */
export type ConfigurationSource =
  | { readonly kind: 'defaults' | 'file' /** Absolute path. */; readonly file: string }
  | { readonly kind: 'flags' };

/** The settings of one source, by their names in `camelCase`. Must not carry secrets: clients are shown them. */
export interface ConfigurationLayer {
  readonly source: ConfigurationSource;
  /** JSON values; `null` says that there is such a setting and that it is not set. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** What a server says about its settings, the weakest source first: of two that have a setting the later one holds. */
export type ServerConfiguration = readonly ConfigurationLayer[];

/** Describes the options of a server that a program made for itself; of those that are settings, and nothing else. */
export function describeOptions(
  options: ServerLimitOptions & { readonly disabledCapabilities?: readonly string[] },
): ServerConfiguration {
  const defaults = { spillDirectory: null, disabledCapabilities: [], ...resolveLimits() };
  const names = Object.keys(defaults) as (keyof ServerLimits | 'disabledCapabilities')[];
  const given = names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]);
  return [
    {
      source: { kind: 'defaults', file: fileURLToPath(import.meta.url) },
      settings: defaults,
    },
    { source: { kind: 'flags' }, settings: Object.fromEntries(given) },
  ];
}
