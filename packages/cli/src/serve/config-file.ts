import { readFileSync } from 'node:fs';
import { parse, TomlError, type TomlTable } from 'smol-toml';
import { externalName, SETTINGS, type ServeSettings, type Setting } from './settings.js';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

const SETTINGS_BY_KEY: ReadonlyMap<string, readonly [string, Setting<unknown>]> = new Map(
  Object.entries<Setting<unknown>>(SETTINGS).map(([name, setting]) => [externalName(name), [name, setting]]),
);

/**
 * Reads settings from a TOML file whose keys are the names of the flags without their dashes in front. Throws an error
 * that names the file, and the key where it is about one.
 */
export function readConfigFile(path: string): ServeSettings {
  const settings = Object.entries(readTable(path)).map(([key, value]) => {
    const [name, { kind }] = SETTINGS_BY_KEY.get(key) ?? refuse(path, `unknown key \`${key}\``);
    const setting = kind.fromConfig(value);
    if (setting === undefined) refuse(path, `\`${key}\` must be ${kind.expected}`);
    return [name, setting] as const;
  });
  return Object.fromEntries(settings) as ServeSettings;
}

function readTable(path: string): TomlTable {
  try {
    // As bigints, integers can be told from floats that have no fraction.
    return parse(UTF8.decode(readFileSync(path)), { integersAsBigInt: true });
  } catch (error) {
    if (error instanceof TomlError)
      return refuse(path, `line ${error.line}, column ${error.column}: ${summarize(error)}`, error);
    throw new Error(`failed to read ${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** Without the excerpt of the document that follows. */
function summarize({ message }: TomlError): string {
  return message.split('\n', 1)[0]!.replace('Invalid TOML document: ', '');
}

function refuse(path: string, problem: string, cause?: unknown): never {
  throw new Error(`invalid configuration file ${path}: ${problem}`, { cause });
}
