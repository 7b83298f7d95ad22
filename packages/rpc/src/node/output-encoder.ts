/** The streams of a process as the wire names them. */
export type OutputStreamName = 'stdout' | 'stderr' | 'pty';

const TAIL = Buffer.from('"}}\n');

const CHUNK_MEMBERS: Readonly<Record<OutputStreamName, Buffer>> = {
  stdout: Buffer.from(',"stream":"stdout","chunk":"'),
  stderr: Buffer.from(',"stream":"stderr","chunk":"'),
  pty: Buffer.from(',"stream":"pty","chunk":"'),
};

/**
 * Writes the output notifications of one process, each with its newline into one buffer of its own. Base64 never
 * needs escaping, so the chunk is spliced in; `JSON.stringify` would spend most of its time looking for quotes there.
 */
export class OutputEncoder {
  readonly #head: Buffer;

  /** @param sessionId told beside the process id, to clients that see processes of several sessions */
  constructor(method: string, processId: string, sessionId?: string) {
    const session = sessionId === undefined ? '' : `"sessionId":${JSON.stringify(sessionId)},`;
    this.#head = Buffer.from(
      `{"method":${JSON.stringify(method)},"params":{"processId":${JSON.stringify(processId)},${session}"seq":`,
    );
  }

  encode(seq: number, stream: OutputStreamName, chunk: Uint8Array): Buffer {
    const digits = String(seq);
    const members = CHUNK_MEMBERS[stream];
    const base64 = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('base64');
    const length = this.#head.length + digits.length + members.length + base64.length + TAIL.length;
    const line = Buffer.allocUnsafe(length);
    let at = this.#head.copy(line);
    at += line.write(digits, at, 'latin1');
    at += members.copy(line, at);
    at += line.write(base64, at, 'latin1');
    TAIL.copy(line, at);
    return line;
  }
}
