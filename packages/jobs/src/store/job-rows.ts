import { type FileHandle, open } from 'node:fs/promises';
import { JobError } from '../errors.js';
import { ItemIds } from '../rows/item-ids.js';
import type { Row, RowSource } from '../rows/row.js';
import { readLines } from './read-lines.js';

/** An item of a job as it was read. */
export interface JobItem {
  /** Index of its row, from 0. */
  readonly index: number;
  readonly itemId: string;
  readonly sourceId: string | undefined;
  readonly row: Row;
}

interface StoredItem {
  readonly id: string;
  readonly source?: string;
  readonly row: Row;
}

/** Text that is collected before it is written, in characters. */
const PIECE_CHARACTERS = 256 * 1024;

/** Stores the rows of a source. Resolves with their number once they are on disk. Rejects with `JobError`. */
export async function storeRows(
  path: string,
  source: RowSource,
  idColumn: string | undefined,
): Promise<number> {
  const ids = new ItemIds(idColumn);
  const file = await open(path, 'wx', 0o600);
  try {
    let waiting = '';
    let count = 0;
    for await (const row of source.rows) {
      const { itemId, sourceId } = ids.next(row);
      const item: StoredItem = { id: itemId, ...(sourceId !== undefined && { source: sourceId }), row };
      waiting += `${JSON.stringify(item)}\n`;
      count++;
      if (waiting.length < PIECE_CHARACTERS) continue;
      await file.appendFile(waiting);
      waiting = '';
    }
    await file.appendFile(waiting);
    await file.datasync();
    if (idColumn !== undefined && count > 0 && !source.columns.includes(idColumn))
      throw new JobError('input', `id_column ${idColumn} was not found in ${source.columnsName}`);
    return count;
  } finally {
    await file.close();
  }
}

/** The rows of a job, which stay on disk: only their places are in memory. */
export class JobRows implements AsyncDisposable {
  private constructor(
    private readonly file: FileHandle,
    private readonly offsets: Float64Array,
  ) {}

  static async open(path: string, totalItems: number): Promise<JobRows> {
    const file = await open(path, 'r');
    try {
      const offsets = new Float64Array(totalItems + 1);
      let count = 0;
      for await (const { offset, length, isWhole } of readLines(file)) {
        if (!isWhole || count === totalItems) break;
        count++;
        offsets[count] = offset + length;
      }
      if (count !== totalItems)
        throw new JobError('corrupt', `the job has ${totalItems} rows, of which ${count} are stored`);
      return new JobRows(file, offsets);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async read(index: number): Promise<JobItem> {
    const begin = this.offsets[index] ?? 0;
    const length = (this.offsets[index + 1] ?? begin) - begin;
    const bytes = Buffer.allocUnsafe(length);
    await this.file.read(bytes, 0, length, begin);
    return toItem(bytes.toString('utf8'), index);
  }

  /** All of them in order. */
  async *all(): AsyncGenerator<JobItem> {
    let index = 0;
    for await (const { text, isWhole } of readLines(this.file)) {
      if (!isWhole || index === this.offsets.length - 1) return;
      yield toItem(text, index++);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.file.close();
  }
}

function toItem(text: string, index: number): JobItem {
  const { id, source, row } = JSON.parse(text) as StoredItem;
  return { index, itemId: id, sourceId: source, row };
}
