import { accessSync, constants, writeSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The part of a test runner's context that a skip needs. */
export interface SkippableTest {
  readonly task: { readonly name: string };
  skip(note?: string): never;
}

export interface RequireProgramOptions {
  /** Default: that of the test. */
  readonly env?: NodeJS.ProcessEnv;
  /** Where the line of a skip goes. Default: stderr, past the runner's capture. */
  readonly write?: (line: string) => void;
}

const STDERR = 2;

/**
 * The path of a program that a test cannot do without. Where it is absent the test is skipped with a
 * visible line; under CI, where everything is installed, it fails.
 */
export function requireProgram(
  name: string,
  test: SkippableTest,
  options: RequireProgramOptions = {},
): string {
  const env = options.env ?? process.env;
  const path = findProgram(name, env.PATH ?? '');
  if (path !== undefined) return path;
  const needs = `${test.task.name} needs ${name}`;
  if (env.CI !== undefined && env.CI !== '') throw new Error(`${needs}, and it is not installed`);
  const write = options.write ?? ((line) => writeSync(STDERR, line));
  write(`SKIPPED: ${needs}\n`);
  return test.skip(`needs ${name}`);
}

function findProgram(name: string, searchPath: string): string | undefined {
  return searchPath
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
