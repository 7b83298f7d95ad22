import { readFile } from 'node:fs/promises';
import { CommandError } from '../command-error.js';

/** A line that sets a variable. What stands behind the sign is looked at below. */
const ASSIGNMENT = /^(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)=/;

/**
 * The variables of a file with lines `KEY=VALUE`. Empty lines and those that begin with `#` say nothing, `export` before a
 * name neither. A value may stand in single or double quotes; in double ones `\n`, `\"` and `\\` have their meaning.
 * Nothing else does: what a shell would look up is taken as it is.
 */
export async function readEnvFile(file: string): Promise<Record<string, string>> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandError(`cannot read the file of --env-file: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const variables: Record<string, string> = {};
  for (const [index, line] of text.split('\n').entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const [start, name] = ASSIGNMENT.exec(trimmed) ?? [];
    // Its text may be a secret.
    if (start === undefined || name === undefined)
      throw new CommandError(`line ${index + 1} of ${file} is no KEY=VALUE`);
    variables[name] = unquote(trimmed.slice(start.length).trim());
  }
  return variables;
}

function unquote(value: string): string {
  const quote = value.charAt(0);
  if (value.length < 2 || !value.endsWith(quote)) return value;
  if (quote === "'") return value.slice(1, -1);
  if (quote !== '"') return value;
  return value
    .slice(1, -1)
    .replace(/\\([n"\\])/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
}
