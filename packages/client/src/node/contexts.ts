import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { parse, stringify, type TomlTable } from 'smol-toml';
import { ExecServerError } from '../errors.js';

/** A server that has a name. */
export interface Context {
  /** `ws://`, `wss://` or `unix://`. */
  readonly url: string;
  /** File with its token. */
  readonly tokenFile?: string;
  /** File with certificate authorities to trust, PEM. */
  readonly tlsCaFile?: string;
}

/** Servers by their names, and the one that is meant where none is named. */
export interface Contexts {
  readonly current: string | undefined;
  readonly contexts: Readonly<Record<string, Context>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Largest file of contexts that is read, in bytes. */
export const MAX_CONTEXTS_BYTES = 1024 * 1024;

/** What a name may be: nothing that could be taken for a URL or a path. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
/** Whoever may write the file chooses where tokens are sent. */
const FOREIGN_WRITE = 0o022;

/** Keys of the file, and what they are called here. */
const KEYS = { url: 'url', 'token-file': 'tokenFile', 'tls-ca': 'tlsCaFile' } as const;

/** Whether a text can be the name of a context. */
export function isContextName(text: string): boolean {
  return NAME.test(text);
}

/** Where contexts are kept: `exec-server/contexts.toml` in `$XDG_CONFIG_HOME`, or else in `~/.config`. */
export function contextsPath(env: Environment = process.env): string {
  const base = env.XDG_CONFIG_HOME;
  const home = env.HOME ?? homedir();
  // A relative path there is to be taken as none.
  return join(
    base !== undefined && isAbsolute(base) ? base : join(home, '.config'),
    'exec-server',
    'contexts.toml',
  );
}

/** What the file has; nothing where there is none. Rejects with `usage` for one that cannot be trusted or read. */
export async function readContexts(env: Environment = process.env): Promise<Contexts> {
  const path = contextsPath(env);
  const text = await readTrusted(path);
  return text === undefined ? { current: undefined, contexts: {} } : parseContexts(text, path);
}

/** Replaces the file, readable by its user alone. */
export async function writeContexts(contexts: Contexts, env: Environment = process.env): Promise<void> {
  const path = contextsPath(env);
  await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE });
  const draft = `${path}.${randomUUID()}`;
  try {
    const file = await open(draft, 'wx', FILE_MODE);
    try {
      await file.writeFile(stringify(toTable(contexts)));
      await file.sync();
    } finally {
      await file.close();
    }
    await chmod(draft, FILE_MODE);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** The server of that name. Rejects with `usage` where there is none. */
export async function findContext(name: string, env: Environment = process.env): Promise<Context> {
  const { contexts } = await readContexts(env);
  const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(contexts);
  const known = names.length === 0 ? 'there are none' : `there are ${names.join(', ')}`;
  throw contextError(
    `there is no context \`${name}\`: ${known}; add it by \`exec-server context add ${name} --connect URL\``,
  );
}

async function readTrusted(path: string): Promise<string | undefined> {
  try {
    const { mode, uid, size } = await stat(path);
    const user = process.geteuid?.();
    if (user !== undefined && uid !== user && uid !== 0)
      throw contextError(`${path} belongs to another user`);
    if ((mode & FOREIGN_WRITE) !== 0)
      throw contextError(`${path} can be written to by other users; chmod 600 it`);
    if (size > MAX_CONTEXTS_BYTES)
      throw contextError(`${path} has ${size} bytes, more than ${MAX_CONTEXTS_BYTES}`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (error instanceof ExecServerError) throw error;
    throw contextError(`cannot read ${path}: ${(error as Error).message}`, error);
  }
}

function parseContexts(text: string, path: string): Contexts {
  const refuse = (problem: string, cause?: unknown) =>
    contextError(`invalid file ${path}: ${problem}`, cause);
  let table: TomlTable;
  try {
    table = parse(text);
  } catch (error) {
    throw refuse((error as Error).message.split('\n', 1)[0] ?? 'not TOML', error);
  }
  const { current, contexts = {} } = table;
  if (current !== undefined && typeof current !== 'string') throw refuse('`current` must be a string');
  if (!isTable(contexts)) throw refuse('`contexts` must be a table');
  const read = Object.entries(contexts).map(([name, value]) => {
    if (!isContextName(name)) throw refuse(`\`${name}\` cannot be a name`);
    return [name, toContext(value, (problem) => refuse(`\`contexts.${name}\`${problem}`))] as const;
  });
  return { current, contexts: Object.fromEntries(read) };
}

function toContext(value: unknown, refuse: (problem: string) => Error): Context {
  if (!isTable(value)) throw refuse(' must be a table');
  const entries = Object.entries(value).map(([key, text]) => {
    if (!Object.hasOwn(KEYS, key)) throw refuse(` has an unknown key \`${key}\``);
    if (typeof text !== 'string') throw refuse(`: \`${key}\` must be a string`);
    return [KEYS[key as keyof typeof KEYS], text] as const;
  });
  const context = Object.fromEntries(entries) as Partial<Context>;
  if (context.url === undefined) throw refuse(' has no `url`');
  return { ...context, url: context.url };
}

function toTable({ current, contexts }: Contexts): TomlTable {
  const tables = Object.entries(contexts).map(([name, context]) => {
    const members = Object.entries(KEYS).flatMap(([key, member]) =>
      context[member] === undefined ? [] : [[key, context[member]] as const],
    );
    return [name, Object.fromEntries(members)] as const;
  });
  return { ...(current !== undefined && { current }), contexts: Object.fromEntries(tables) };
}

function isTable(value: unknown): value is TomlTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function contextError(message: string, cause?: unknown): ExecServerError {
  return new ExecServerError('usage', message, cause === undefined ? {} : { cause });
}
