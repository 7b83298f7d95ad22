import { constants } from 'node:os';
import { StringDecoder } from 'node:string_decoder';
import type { ProcessEvent, ProcessHandle, StreamName } from '@exec-server/client';
import type { CommandIo } from '../command-io.js';
import type { LogsFlags } from '../commands/logs.js';
import { ExitCode, SIGNAL_EXIT_BASE } from '../exit-codes.js';
import { findProcess } from './find-process.js';
import { toJsonLine } from './json.js';
import { LogTail } from './log-tail.js';
import { OutputPump } from './output-pump.js';
import { withMachine } from './with-machine.js';

/** Prints what a process has written, and with `follow` what it writes until its end. Returns what to exit with. */
export function printLog(id: string, flags: LogsFlags, io: CommandIo): Promise<number> {
  return withMachine(
    flags,
    io,
    async (open) => {
      const { id: processId, sessionId, cursor } = await findProcess(open, id, flags.session);
      const handle = await open.machine.attach(processId, { sessionId, mode: 'view' });
      const pump = new OutputPump(tailOf(handle, cursor, flags.tail), io, {
        // Without a line there is nothing to be read of what there is.
        from: flags.tail === 0 ? cursor : 0,
        ...(flags.json === true && { format: createJsonFormat() }),
      });
      await (flags.follow === true ? pump.finished : pump.endAfter(cursor));
      if (pump.isUnread) return SIGNAL_EXIT_BASE + constants.signals.SIGPIPE;
      if (handle.failure !== undefined) throw handle.failure;
      return ExitCode.success;
    },
    { slowReader: 'pause' },
  );
}

function tailOf(
  handle: ProcessHandle,
  cursor: number,
  lines: number | undefined,
): Pick<ProcessHandle, 'events'> {
  return lines === undefined || lines === 0 ? handle : new LogTail(handle, cursor, lines);
}

/** One line for each event; the characters of a stream stay whole, wherever its pieces end. */
function createJsonFormat(): (event: ProcessEvent) => string {
  const decoders = new Map<StreamName, StringDecoder>();
  return (event) => {
    if (event.type === 'failed') return '';
    if (event.type !== 'output') return toJsonLine(event);
    const { type, seq, stream, data } = event;
    const decoder = decoders.get(stream) ?? new StringDecoder('utf8');
    decoders.set(stream, decoder);
    return toJsonLine({ type, seq, stream, text: decoder.write(Buffer.from(data)) });
  };
}
