import { ExecServerError, type ListedProcess, type ProcessHandle, PtyHandle } from '@exec-server/client';
import type { CommandIo } from '../command-io.js';
import type { AttachFlags } from '../commands/attach.js';
import { ExitCode } from '../exit-codes.js';
import { DEFAULT_DETACH_KEYS, parseDetachKeys, untilDetachKeys } from './detach-keys.js';
import { findProcess } from './find-process.js';
import { followProcess } from './follow-process.js';
import { lendTerminal } from './local-terminal.js';
import { OutputPump } from './output-pump.js';
import { toPrintable } from './printable.js';
import { readInput } from './read-input.js';
import { watchConnection } from './watch-connection.js';
import { type OpenMachine, withMachine } from './with-machine.js';

/** Clears the screen and puts the cursor at its beginning. */
const CLEAR_SCREEN = '\u001b[2J\u001b[H';

/** Joins a process as if it had been started here. Returns what to exit with. */
export function attachProcess(id: string, flags: AttachFlags, io: CommandIo): Promise<number> {
  const detachKeys = parseDetachKeys(flags.detachKeys ?? DEFAULT_DETACH_KEYS);
  return withMachine(
    flags,
    io,
    async (open) => {
      const listed = await findProcess(open, id, flags.session);
      if (listed.tty && flags.view !== true) return attachTerminal(open, listed, detachKeys, flags, io);
      const mode = flags.view === true ? 'view' : 'control';
      const handle = await attach(open, listed, { mode });
      if (flags.view === true) return watch(handle, io);
      const passesInput = flags.stdin && listed.state === 'running';
      const result = passesInput ? handle.communicate(readInput(io.stdin)) : handle.result();
      return followProcess(handle, io, result, watchConnection(open.machine, io, listed.id));
    },
    { slowReader: 'pause' },
  );
}

function attach(
  { machine }: OpenMachine,
  { id, sessionId }: ListedProcess,
  options: { readonly mode: 'view' | 'control'; readonly from?: number },
): Promise<ProcessHandle> {
  return machine.attach(id, {
    sessionId,
    output: { headBytes: 0, tailBytes: 0, truncate: 'middle' },
    ...options,
  });
}

/** Writes what it writes until its end; signals end the watching and not the process. */
async function watch(handle: ProcessHandle, io: CommandIo): Promise<number> {
  await new OutputPump(handle, io).finished;
  if (handle.failure !== undefined) throw handle.failure;
  return ExitCode.success;
}

async function attachTerminal(
  open: OpenMachine,
  listed: ListedProcess,
  detachKeys: Uint8Array,
  flags: AttachFlags,
  io: CommandIo,
): Promise<number> {
  const paints = io.stdout.isTTY === true && listed.state === 'running';
  const handle = await attach(open, listed, { mode: 'control', ...(paints && { from: listed.cursor }) });
  const terminal = lendTerminal(io, handle, undefined);
  let isDetached = false;
  try {
    const from = paints ? await paintScreen(handle, io) : undefined;
    const connection = watchConnection(open.machine, io, listed.id);
    const typed = untilDetachKeys(connection.watchKeys(readInput(io.stdin)), detachKeys, () => {
      isDetached = true;
      handle.detach();
    });
    const result = flags.stdin ? handle.communicate(typed) : handle.result();
    const options = from === undefined ? {} : { from };
    const exitCode = await followProcess(handle, io, result, connection, options);
    return exitCode;
  } catch (error) {
    if (!isDetached) throw error;
    return ExitCode.success;
  } finally {
    terminal.giveBack(handle.outcome?.kind === 'exited');
    if (isDetached)
      io.stderr.write(`\r\ndetached; come back by: exec-server attach ${toPrintable(listed.id)}\n`);
  }
}

/**
 * Shows what is on the screen now. What the program has sent since its start is not sent again: the terminal would
 * answer its questions a second time. Returns the cursor behind it.
 */
async function paintScreen(handle: ProcessHandle, io: CommandIo): Promise<number | undefined> {
  if (!(handle instanceof PtyHandle)) return undefined;
  try {
    const { ansi, cursor } = await handle.snapshot();
    io.stdout.write(`${CLEAR_SCREEN}${ansi}`);
    return cursor;
  } catch (error) {
    // A server without snapshots has the rest all the same.
    if (error instanceof ExecServerError && error.code === 'capability_missing') return undefined;
    throw error;
  }
}
