import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServerConfiguration } from '@exec-server/server';
import { SETTINGS, type ServeSettings, type Setting } from './settings.js';

/** What clients see of a value that is kept from them. */
const HIDDEN = '<hidden>';

/** A configuration file that was read. */
export interface ConfigFile {
  readonly path: string;
  readonly settings: ServeSettings;
}

/** Tells which settings came from where, without what clients are not to know. */
export function describeConfiguration(flags: ServeSettings, file?: ConfigFile): ServerConfiguration {
  const defaults = {
    source: { kind: 'defaults', file: fileURLToPath(import.meta.url) },
    settings: mapSettings((_, setting) => defaultOf(setting)),
  } as const;
  const given = { source: { kind: 'flags' }, settings: showSettings(flags) } as const;
  if (file === undefined) return [defaults, given];
  const read = {
    source: { kind: 'file', file: resolve(file.path) },
    settings: showSettings(file.settings),
  } as const;
  return [defaults, read, given];
}

function defaultOf({ kind, default: value }: Setting<unknown>): unknown {
  if (kind.arity === 'none') return false;
  return value === undefined ? null : kind.fromText(value, value);
}

function showSettings(settings: ServeSettings): Record<string, unknown> {
  return mapSettings((name, { confidential = false }) => {
    const value = settings[name as keyof ServeSettings];
    return value !== undefined && confidential ? HIDDEN : value;
  });
}

/** A value per setting; those that have none are left out. */
function mapSettings(
  describe: (name: string, setting: Setting<unknown>) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries<Setting<unknown>>(SETTINGS)
      .map(([name, setting]) => [name, describe(name, setting)] as const)
      .filter(([, value]) => value !== undefined),
  );
}
