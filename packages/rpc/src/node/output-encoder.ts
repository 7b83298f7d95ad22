import { spliceBase64 } from './splice-base64.js';

/** The streams of a process as the wire names them. */
export type OutputStreamName = 'stdout' | 'stderr' | 'pty';

const TAIL = Buffer.from('"}}\n');

/** Writes the output notifications of one process, each with its newline into one buffer, as `spliceBase64` does. */
export class OutputEncoder {
  readonly #head: Buffer;

  /** @param sessionId told beside the process id, to clients that see processes of several sessions */
  constructor(method: string, processId: string, sessionId?: string) {
    const session = sessionId === undefined ? '' : `"sessionId":${JSON.stringify(sessionId)},`;
    this.#head = Buffer.from(
      `{"method":${JSON.stringify(method)},"params":{"processId":${JSON.stringify(processId)},${session}"seq":`,
    );
  }

  encode(seq: number, stream: OutputStreamName, chunk: Uint8Array): Buffer<ArrayBuffer> {
    return spliceBase64(this.#head, `${seq},"stream":"${stream}","chunk":"`, chunk, TAIL);
  }
}
