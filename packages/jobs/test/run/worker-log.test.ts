import { appendFile, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LOG_HEAD_BYTES, LOG_TAIL_BYTES, type LogRecord, WorkerLog } from '../../src/run/worker-log.js';
import { makeDirectory } from '../temp-directory.js';

const output = (seq: number, size: number, letter = 'x') =>
  ({ type: 'output', seq, stream: 'stdout', data: Buffer.alloc(size, letter) }) as const;

async function read(path: string): Promise<LogRecord[]> {
  const text = await readFile(path, 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LogRecord);
}

const seqs = (records: readonly LogRecord[]) =>
  records.map((record) => ('data' in record ? record.seq : `-${record.droppedBytes}`));

describe('WorkerLog', () => {
  it('makes no file without output', async () => {
    const path = join(await makeDirectory(), 'log');
    await new WorkerLog(path).close();
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.each([
    [-1, [1, 2, 3, 4]],
    [0, [1, 2, 3, 4]],
    [1, [1, `-${LOG_TAIL_BYTES / 2 + 1}`, 3, 4]],
  ])('with %i bytes more than fit keeps the beginning and the end', async (more, kept) => {
    const path = join(await makeDirectory(), 'log');
    const log = new WorkerLog(path);
    log.append(output(1, LOG_HEAD_BYTES));
    log.append(output(2, LOG_TAIL_BYTES / 2 + more));
    log.append(output(3, LOG_TAIL_BYTES / 4));
    log.append(output(4, LOG_TAIL_BYTES / 4));
    await log.close();
    expect(seqs(await read(path))).toEqual(kept);
  });

  it('goes on behind what is whole', async () => {
    const path = join(await makeDirectory(), 'log');
    const log = new WorkerLog(path);
    log.append(output(1, 3, 'a'));
    log.append(output(2, 3, 'b'));
    await log.close();
    await appendFile(path, '{"seq":3,"stre');
    const seen: LogRecord[] = [];
    const again = await WorkerLog.reopen(path, (record) => seen.push(record));
    expect(again.lastSeq).toBe(2);
    expect(seqs(seen)).toEqual([1, 2]);
    again.gap(4);
    again.append(output(5, 3, 'c'));
    await again.close();
    expect(seqs(await read(path))).toEqual([1, 2, '-0', 5]);
  });

  it('says that the disk refused', async () => {
    const log = new WorkerLog(join(await makeDirectory(), 'none/log'));
    log.append(output(1, 3));
    await expect(log.close()).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
