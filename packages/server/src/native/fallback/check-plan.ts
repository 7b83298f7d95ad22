import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { OsError } from '../../os-error.js';
import { E2BIG, EACCES, EINVAL, ENOENT, ENOTDIR, ENOTSUP } from '../constants.js';
import { resolveProgramSync } from '../exec-path.js';
import type { LaunchPlan } from '../launch.js';
import { toOsError } from '../node-error.js';

/** Longest single argument or variable that Linux takes, in bytes, its end included. */
const MAX_ARGUMENT_BYTES = 131_072;

/**
 * Answers beforehand what the portable interfaces tell too late, as an event, or not at all. Returns the working
 * directory as text; one that is no text is more than those interfaces take.
 */
export function checkPlan(plan: LaunchPlan): string {
  const strings = [
    plan.program,
    ...plan.argv,
    ...Array.from(plan.env, ([name, value]) => `${name}=${value}`),
  ];
  if (strings.some((text) => text.includes('\0')) || plan.cwd.includes(0))
    throw new OsError(EINVAL, 'execve');
  if (strings.some((text) => Buffer.byteLength(text) >= MAX_ARGUMENT_BYTES))
    throw new OsError(E2BIG, 'execve');
  const cwd = Buffer.from(plan.cwd).toString();
  if (!Buffer.from(cwd).equals(plan.cwd)) throw new OsError(ENOTSUP, 'chdir');
  checkDirectory(cwd);
  checkProgram(isAbsolute(plan.program) ? plan.program : resolve(cwd, plan.program));
  return cwd;
}

/**
 * The name under which the pty binding must be told of the program: it looks it up on the child's PATH, and makes it
 * `argv[0]`. Throws ENOTSUP when that cannot give the program and the `argv[0]` of the plan.
 */
export function choosePtyName({ program, argv, env, cwd }: LaunchPlan): string {
  const name = argv[0] ?? program;
  if (name === program) return name;
  if (name.includes('/') || lookUp(name, env.get('PATH'), cwd) !== program)
    throw new OsError(ENOTSUP, 'execve');
  return name;
}

function lookUp(name: string, searchPath: string | undefined, cwd: Uint8Array): string | null {
  try {
    return resolveProgramSync(name, searchPath, cwd);
  } catch {
    return null;
  }
}

function checkDirectory(path: string): void {
  try {
    if (!statSync(path).isDirectory()) throw new OsError(ENOTDIR, 'chdir');
    accessSync(path, constants.X_OK);
  } catch (error) {
    throw toOsError(error, 'chdir');
  }
}

function checkProgram(path: string): void {
  if (path === '') throw new OsError(ENOENT, 'execve');
  try {
    if (!statSync(path).isFile()) throw new OsError(EACCES, 'execve');
    accessSync(path, constants.X_OK);
  } catch (error) {
    throw toOsError(error, 'execve');
  }
}
