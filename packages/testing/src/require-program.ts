import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The part of a test runner's context that a skip needs. */
export interface SkippableTest {
  readonly task: { readonly name: string };
  skip(note?: string): never;
}

/** Whether a run keeps a program from its tests on purpose: `TEST_HIDDEN` has the names, with commas between them. */
export function isHiddenProgram(name: string, env: NodeJS.ProcessEnv = process.env): boolean {
  return (env.TEST_HIDDEN ?? '').split(',').includes(name);
}

/**
 * The path of a program that a test cannot do without. Where it is absent the test is skipped; under CI, where everything
 * is installed, it fails, unless the run hides it.
 * @param env default: that of the test
 */
export function requireProgram(
  name: string,
  test: SkippableTest,
  env: NodeJS.ProcessEnv = process.env,
): string {
  const path = findProgram(name, env.PATH ?? '');
  if (path !== undefined) return path;
  if (env.CI !== undefined && env.CI !== '' && !isHiddenProgram(name, env))
    throw new Error(`${test.task.name} needs ${name}, and it is not installed`);
  return skipFor(test, name);
}

/** Skips a test for want of something that not every machine has. The run lists it with this reason at its end. */
export function skipFor(test: SkippableTest, need: string): never {
  return test.skip(`needs ${need}`);
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
