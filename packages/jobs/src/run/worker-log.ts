import { type FileHandle, open } from 'node:fs/promises';
import type { OutputEvent } from '@exec-server/client';
import { readLines } from '../store/read-lines.js';

/** Output of a worker that is kept from its beginning, in bytes. */
export const LOG_HEAD_BYTES = 512 * 1024;
/** And from its end, in bytes. */
export const LOG_TAIL_BYTES = 256 * 1024;

/** A line of a log. */
export type LogRecord =
  | {
      readonly seq: number;
      readonly stream: 'stdout' | 'stderr' | 'pty';
      /** Base64. */
      readonly data: string;
    }
  /** Output up to there is not kept. */
  | { readonly seq: number; readonly droppedBytes: number };

/**
 * What a worker wrote, with the numbers of the events, so that a runner that takes over goes on behind the last one. The
 * beginning is written as it comes; of what does not fit the end is kept and written at last. Without output there is no
 * file.
 */
export class WorkerLog {
  #file: FileHandle | undefined;
  #writing: Promise<void> | undefined;
  #waiting = '';
  #headBytes = 0;
  #tail: { readonly record: LogRecord; readonly bytes: number }[] = [];
  #tailBytes = 0;
  #droppedBytes = 0;
  #lastSeq = 0;
  #failure: unknown;

  constructor(private readonly path: string) {}

  /** Goes on with the log of an earlier runner. Its records are given to `onRecord` first. */
  static async reopen(path: string, onRecord: (record: LogRecord) => void): Promise<WorkerLog> {
    const log = new WorkerLog(path);
    let file: FileHandle;
    try {
      file = await open(path, 'a+', 0o600);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return log;
      throw error;
    }
    log.#file = file;
    let length = 0;
    for await (const line of readLines(file)) {
      if (!line.isWhole) break;
      const record = JSON.parse(line.text) as LogRecord;
      length += line.length;
      log.#lastSeq = record.seq;
      if ('data' in record) log.#headBytes += Buffer.byteLength(record.data, 'base64');
      onRecord(record);
    }
    await file.truncate(length);
    return log;
  }

  /** Number of the newest event in the log. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  append({ seq, stream, data }: OutputEvent): void {
    this.#lastSeq = seq;
    const bytes = data.byteLength;
    const record = { seq, stream, data: Buffer.from(data).toString('base64') };
    if (this.#tail.length === 0 && this.#headBytes + bytes <= LOG_HEAD_BYTES) {
      this.#headBytes += bytes;
      this.#write(record);
      return;
    }
    this.#tail.push({ record, bytes });
    this.#tailBytes += bytes;
    while (this.#tailBytes > LOG_TAIL_BYTES) {
      const oldest = this.#tail.shift();
      if (oldest === undefined) break;
      this.#tailBytes -= oldest.bytes;
      this.#droppedBytes += oldest.bytes;
    }
  }

  gap(toSeq: number): void {
    this.#lastSeq = toSeq;
    const record = { seq: toSeq, droppedBytes: 0 };
    if (this.#tail.length === 0) this.#write(record);
    else this.#tail.push({ record, bytes: 0 });
  }

  /** Writes what is left. Rejects with the error of the disk, which has not got in the way of the worker. */
  async close(): Promise<void> {
    const [first] = this.#tail;
    if (first !== undefined && this.#droppedBytes > 0)
      this.#write({ seq: first.record.seq - 1, droppedBytes: this.#droppedBytes });
    for (const { record } of this.#tail) this.#write(record);
    this.#tail = [];
    while (this.#writing !== undefined) await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
    if (this.#failure !== undefined) throw this.#failure;
  }

  #write(record: LogRecord): void {
    this.#waiting += `${JSON.stringify(record)}\n`;
    this.#writing ??= this.#flush();
  }

  async #flush(): Promise<void> {
    try {
      while (this.#waiting !== '') {
        const text = this.#waiting;
        this.#waiting = '';
        this.#file ??= await open(this.path, 'a+', 0o600);
        await this.#file.appendFile(text);
      }
    } catch (error) {
      this.#failure = error;
      this.#waiting = '';
    } finally {
      this.#writing = undefined;
    }
  }
}
