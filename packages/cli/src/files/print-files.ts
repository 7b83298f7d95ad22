import { isUtf8 } from 'node:buffer';
import { writeJson } from '../client/json.js';
import { StreamWriter } from '../client/stream-writer.js';
import { withMachine } from '../client/with-machine.js';
import type { CommandIo } from '../command-io.js';
import type { CatFlags } from '../commands/cat.js';
import { forEachPath } from './each-path.js';
import { resolveRemotePath } from './resolve-remote-path.js';

interface PrintedFile {
  readonly path: string;
  /** Absent where the content is no UTF-8. */
  readonly text?: string;
  readonly dataBase64?: string;
}

/** Prints files of the server's machine one after the other. Returns what to exit with. */
export function printFiles(paths: readonly string[], flags: CatFlags, io: CommandIo): Promise<number> {
  return withMachine(flags, io, async ({ machine }) => {
    const printed: PrintedFile[] = [];
    const writer = new StreamWriter(io.stdout);
    const exitCode = await forEachPath(paths, io, async (asked) => {
      const path = await resolveRemotePath(machine, asked);
      if (flags.json === true) printed.push(describe(path, await machine.fs.readFile(path)));
      else await copyContent(machine.fs.createReadStream(path), writer);
    });
    if (flags.json === true) writeJson(io, printed);
    await writer.flush();
    return exitCode;
  });
}

async function copyContent(content: ReadableStream<Uint8Array>, writer: StreamWriter): Promise<void> {
  // Whoever reads may have seen enough before the end.
  for await (const chunk of content) if (!(await writer.write(chunk))) return;
}

function describe(path: string, content: Uint8Array): PrintedFile {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  return isUtf8(bytes) ? { path, text: bytes.toString() } : { path, dataBase64: bytes.toString('base64') };
}
