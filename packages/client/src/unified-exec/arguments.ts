import { UnifiedExecError } from './errors.js';

/** What `execCommand` takes. */
export interface ExecCommandArgs {
  /** The text for the shell. */
  readonly cmd: string;
  /** Directory, relative to the `cwd` of the options; empty is that itself. @default '' */
  readonly workdir?: string | undefined;
  /** Path or name of bash, zsh, sh, pwsh or cmd. @default that of the options, or else of the server's user */
  readonly shell?: string | undefined;
  /** Run it as a login shell. @default true unless `allowLoginShell` is false */
  readonly login?: boolean | undefined;
  /** Run it on a terminal; without one its stdin is closed. @default false */
  readonly tty?: boolean | undefined;
  /** How long to wait for its end, in milliseconds, from 250 to 30 000. @default 10 000 */
  readonly yieldTimeMs?: number | undefined;
  /** How much output to show, in tokens of 4 bytes. @default 10 000 */
  readonly maxOutputTokens?: number | undefined;
}

/** What `writeStdin` takes. */
export interface WriteStdinArgs {
  readonly sessionId: number;
  /** What to type; nothing only waits. Without a terminal the character U+0003 alone interrupts. @default '' */
  readonly chars?: string | undefined;
  /** How long to wait, in milliseconds: 250 to 30 000 behind input, 5000 to 300 000 without. @default 250 */
  readonly yieldTimeMs?: number | undefined;
  /** How much output to show, in tokens of 4 bytes. @default 10 000 */
  readonly maxOutputTokens?: number | undefined;
}

const MAX_I32 = 2 ** 31 - 1;

/** Checks the arguments of `execCommand` by the names that the model gives them. */
export function readExecCommandArgs(members: Members): ExecCommandArgs {
  return {
    cmd: readText(members, 'cmd') ?? missing('cmd'),
    workdir: readText(withoutNull(members, 'workdir'), 'workdir'),
    shell: readText(withoutNull(members, 'shell'), 'shell'),
    login: readFlag(withoutNull(members, 'login'), 'login'),
    tty: readFlag(members, 'tty'),
    yieldTimeMs: readNumber(members, 'yield_time_ms', 'u64', 0, Number.MAX_SAFE_INTEGER),
    maxOutputTokens: readMaxOutputTokens(members),
  };
}

/** Checks the arguments of `writeStdin` by the names that the model gives them. */
export function readWriteStdinArgs(members: Members): WriteStdinArgs {
  return {
    sessionId: readNumber(members, 'session_id', 'i32', -MAX_I32 - 1, MAX_I32) ?? missing('session_id'),
    chars: readText(members, 'chars'),
    yieldTimeMs: readNumber(members, 'yield_time_ms', 'u64', 0, Number.MAX_SAFE_INTEGER),
    maxOutputTokens: readMaxOutputTokens(members),
  };
}

/** The members of an object; unknown ones are nobody's business. */
export type Members = Readonly<Record<string, unknown>>;

/** The arguments of a tool call as models give them: JSON, or an object that was read from it. */
export function parseMembers(args: string | object): Members {
  const value = typeof args === 'string' ? parseJson(args) : args;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw UnifiedExecError.badArguments(`invalid type: ${describe(value)}, expected an object`);
  }
  return value as Members;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw UnifiedExecError.badArguments((error as SyntaxError).message);
  }
}

function withoutNull(members: Members, name: string): Members {
  return members[name] === null ? {} : members;
}

function readMaxOutputTokens(members: Members): number | undefined {
  const name = 'max_output_tokens';
  return readNumber(withoutNull(members, name), name, 'usize', 0, Number.MAX_SAFE_INTEGER);
}

function readText(members: Members, name: string): string | undefined {
  const value = members[name];
  if (value === undefined || typeof value === 'string') return value;
  return invalidType(value, 'a string');
}

function readFlag(members: Members, name: string): boolean | undefined {
  const value = members[name];
  if (value === undefined || typeof value === 'boolean') return value;
  return invalidType(value, 'a boolean');
}

function readNumber(
  members: Members,
  name: string,
  type: string,
  least: number,
  most: number,
): number | undefined {
  const value = members[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value)) return invalidType(value, type);
  if (value >= least && value <= most) return value;
  throw UnifiedExecError.badArguments(`invalid value: ${describe(value)}, expected ${type}`);
}

function invalidType(value: unknown, expected: string): never {
  throw UnifiedExecError.badArguments(`invalid type: ${describe(value)}, expected ${expected}`);
}

function missing(name: string): never {
  throw UnifiedExecError.badArguments(`missing field \`${name}\``);
}

function describe(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `string ${JSON.stringify(value)}`;
    case 'number':
      return `${Number.isInteger(value) ? 'integer' : 'floating point'} \`${value}\``;
    case 'boolean':
      return `boolean \`${value}\``;
    default:
      if (value === null) return 'null';
      return Array.isArray(value) ? 'sequence' : 'map';
  }
}
