import { parse, TomlError } from 'smol-toml';
import { ENOENT, isOsError } from '../../fs/file-error.js';
import { readTextFile } from '../text-file.js';
import { ConfigError } from './config-error.js';
import type { TomlTable } from './toml-table.js';

/** Largest configuration file that is read, in bytes. */
const MAX_CONFIG_FILE_BYTES = 1024 * 1024;

/** How the failures of one kind of file are worded. */
export interface TomlFileWords {
  /** `Failed to read <noun> <path>: …` */
  readonly noun: string;
  /** The text for a file that is no TOML. */
  parseFailure(path: string, problem: { line: number; column: number; text: string }): string;
}

/** The table in a file, or nothing when there is no such file. Throws {@link ConfigError}. */
export async function readTomlFile(path: string, words: TomlFileWords): Promise<TomlTable | undefined> {
  const text = await readIfPresent(path, words);
  if (text === undefined) return undefined;
  try {
    // Integers as bigints: they keep their digits, and can be told from floats that have no fraction.
    return parse(text.replace(/^\ufeff/, ''), { integersAsBigInt: true });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const { line, column, message } = error;
    throw new ConfigError(words.parseFailure(path, { line, column, text: firstLine(message) }), {
      cause: error,
    });
  }
}

async function readIfPresent(path: string, { noun }: TomlFileWords): Promise<string | undefined> {
  try {
    return await readTextFile(path, MAX_CONFIG_FILE_BYTES);
  } catch (error) {
    if (isOsError(error, ENOENT)) return undefined;
    throw new ConfigError(`Failed to read ${noun} ${path}: ${(error as Error).message}`, { cause: error });
  }
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0]!.replace('Invalid TOML document: ', '');
}
