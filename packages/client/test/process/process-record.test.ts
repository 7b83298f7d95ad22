import { describe, expect, it } from 'vitest';
import { ConnectionLostError } from '../../src/errors.js';
import { ProcessRecord } from '../../src/process/process-record.js';
import type { ExitedEvent, OutputEvent, StreamName } from '../../src/process-event.js';

const LIMITS = { headBytes: 1024, tailBytes: 1024 };

const output = (seq: number, stream: StreamName, ...bytes: number[]): OutputEvent => ({
  type: 'output',
  seq,
  stream,
  data: Uint8Array.from(bytes),
});
const exited = (seq: number, exitCode: number): ExitedEvent => ({
  type: 'exited',
  seq,
  exitCode,
  signal: undefined,
  timedOut: false,
  sandboxDenied: undefined,
});
const failed = { type: 'failed', message: 'gone', error: new ConnectionLostError('gone') } as const;

describe('the outcome', () => {
  it('is none while the process runs, and unknown in a summary', () => {
    const record = new ProcessRecord(LIMITS);
    expect(record.outcome).toBeUndefined();
    expect(record.summarize()).toMatchObject({ outcome: { kind: 'unknown' }, outputOpen: false });
  });

  it('stays that of the exit, whatever is lost afterwards', async () => {
    const record = new ProcessRecord(LIMITS);
    record.take(exited(1, 5));
    await record.ended;
    expect(record.summarize()).toMatchObject({ exitCode: 5, outputOpen: true });
    record.take(failed);
    await record.over;
    expect(record.outcome).toEqual({ kind: 'exited', exitCode: 5 });
    expect(record.error).toBe(failed.error);
  });

  it('is unknown where the exit itself was missed', async () => {
    const record = new ProcessRecord(LIMITS);
    record.take({ type: 'gap', fromSeq: 1, toSeq: 3 });
    record.take({ type: 'closed', seq: 4 });
    await record.over;
    expect(record.summarize()).toMatchObject({
      outcome: { kind: 'unknown', reason: 'its end was missed' },
      exitCode: undefined,
      missed: [{ fromSeq: 1, toSeq: 3 }],
    });
  });

  it('is unknown, with the first reason, once nobody follows the process', () => {
    const record = new ProcessRecord(LIMITS);
    record.abandon('its handle was detached');
    record.abandon('another reason');
    expect(record.outcome).toEqual({ kind: 'unknown', reason: 'its handle was detached' });
  });
});

describe('both streams together', () => {
  it('hold characters together that came in pieces', () => {
    const record = new ProcessRecord(LIMITS);
    record.take(output(1, 'stdout', 0x61, 0xe2));
    record.take(output(2, 'stderr', 0xc3));
    record.take(output(3, 'stdout', 0x82, 0xac));
    record.take(output(4, 'stderr', 0xa9));
    const { all, stdout, stderr } = record.summarize();
    expect([all.text(), stdout.text(), stderr.text()]).toEqual(['a€é', 'a€', 'é']);
  });

  it('have in the end also what never became a character', () => {
    const record = new ProcessRecord(LIMITS);
    record.take(output(1, 'stdout', 0x61, 0xe2));
    expect(record.summarize().all.totalBytes).toBe(1);
    record.take(exited(2, 0));
    record.take({ type: 'closed', seq: 3 });
    const { all, stdout } = record.summarize();
    expect(all.totalBytes).toBe(stdout.totalBytes);
    expect(record.summarize().all.totalBytes).toBe(2);
  });
});
