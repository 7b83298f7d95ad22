import { resolve } from 'node:path';
import {
  type Context,
  type Contexts,
  createDialer,
  ExecServerError,
  isContextName,
  readContexts,
  writeContexts,
} from '@exec-server/client';
import { CommandError } from '../command-error.js';
import type { CommandIo } from '../command-io.js';
import type { ContextAddFlags } from '../commands/context.js';
import { UsageError } from '../usage-error.js';
import { writeJson } from './json.js';
import { writeTable } from './table.js';

/** Gives a server a name. Paths are kept absolute, so that they mean the same everywhere. */
export async function addContext(name: string, flags: ContextAddFlags, io: CommandIo): Promise<void> {
  if (!isContextName(name))
    throw new UsageError(
      `invalid name '${name}': expected letters, digits, dots, dashes and underscores, at most 64`,
    );
  const { connect: url, tokenFile, tlsCa, use } = flags;
  checkUrl(url);
  const context: Context = {
    url,
    ...(tokenFile !== undefined && { tokenFile: resolve(tokenFile) }),
    ...(tlsCa !== undefined && { tlsCaFile: resolve(tlsCa) }),
  };
  await edit(io, ({ current, contexts }) => ({
    current: use === true ? name : current,
    contexts: { ...contexts, [name]: context },
  }));
}

/** Chooses the server that is meant where none is named. */
export async function useContext(name: string | undefined, io: CommandIo): Promise<void> {
  await edit(io, ({ contexts }) => {
    if (name !== undefined) requireContext(contexts, name);
    return { current: name, contexts };
  });
}

export async function removeContexts(names: readonly string[], io: CommandIo): Promise<void> {
  await edit(io, ({ current, contexts }) => {
    for (const name of names) requireContext(contexts, name);
    const left = Object.entries(contexts).filter(([name]) => !names.includes(name));
    return {
      current: current !== undefined && names.includes(current) ? undefined : current,
      contexts: Object.fromEntries(left),
    };
  });
}

export async function listContexts({ json }: { readonly json?: boolean }, io: CommandIo): Promise<void> {
  const { current, contexts } = await read(io);
  const rows = Object.entries(contexts).map(([name, context]) => ({
    name,
    current: name === current,
    url: context.url,
    tokenFile: context.tokenFile ?? null,
    tlsCa: context.tlsCaFile ?? null,
  }));
  if (json === true) return writeJson(io, rows);
  writeTable(
    io,
    [
      { title: 'NAME', value: (row) => row.name },
      { title: 'USED', value: (row) => (row.current ? 'yes' : '-') },
      { title: 'URL', value: (row) => row.url },
      { title: 'TOKEN', value: (row) => row.tokenFile ?? '-' },
    ],
    rows,
  );
}

function requireContext(contexts: Contexts['contexts'], name: string): void {
  if (Object.hasOwn(contexts, name)) return;
  throw new CommandError(`there is no context ${name}`, {
    hint: '`exec-server context list` tells which there are.',
  });
}

function checkUrl(url: string): void {
  try {
    createDialer(url);
  } catch (error) {
    throw error instanceof ExecServerError
      ? new UsageError(`invalid value '${url}' for '--connect <URL>': ${error.message}`)
      : error;
  }
}

async function edit(io: CommandIo, change: (contexts: Contexts) => Contexts): Promise<void> {
  await writeContexts(change(await read(io)), io.env);
}

async function read(io: CommandIo): Promise<Contexts> {
  try {
    return await readContexts(io.env);
  } catch (error) {
    throw error instanceof ExecServerError ? new CommandError(error.message, { cause: error }) : error;
  }
}
