import { LaggedError, type ProcessEvent, type ReadOptions } from '@exec-server/client';
import { expect, it } from 'vitest';
import { OutputPump } from '../../src/client/output-pump.js';
import { FakeIo } from '../support.js';

function output(seq: number, text: string, stream: 'stdout' | 'stderr' = 'stdout'): ProcessEvent {
  return { type: 'output', seq, stream, data: Buffer.from(text) };
}

/** A process whose events are these; where one is an error, reading fails there. It goes on for ever. */
function createHandle(events: readonly (ProcessEvent | Error)[]) {
  const starts: (number | undefined)[] = [];
  return {
    starts,
    async *events({ from, signal }: ReadOptions = {}): AsyncIterableIterator<ProcessEvent> {
      starts.push(from);
      for (const event of events) {
        if (event instanceof LaggedError && (from ?? 0) < event.toSeq) throw event;
        if (event instanceof Error || ('seq' in event && event.seq <= (from ?? 0))) continue;
        yield event;
      }
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    },
  };
}

it('writes up to an event and no further', async () => {
  const io = new FakeIo();
  const pump = new OutputPump(createHandle([output(1, 'a'), output(2, 'b', 'stderr'), output(3, 'c')]), io);
  await pump.endAfter(2);
  expect({ stdout: io.stdout.text, stderr: io.stderr.text }).toEqual({ stdout: 'a', stderr: 'b' });
});

it('ends also when it was there already', async () => {
  const io = new FakeIo();
  const pump = new OutputPump(createHandle([output(1, 'a')]), io);
  await new Promise((resolve) => io.stdout.once('said', resolve));
  await new Promise(setImmediate);
  await pump.endAfter(1);
  expect(io.stdout.text).toBe('a');
});

it('tells what is missing and goes on behind it', async () => {
  const io = new FakeIo();
  const handle = createHandle([output(1, 'a'), new LaggedError(2, 4), output(5, 'b')]);
  await new OutputPump(handle, io).endAfter(5);
  expect(io.stdout.text).toBe('ab');
  expect(io.stderr.text).toBe(
    'exec-server: output is missing here; the server no longer has events 2 to 4\n',
  );
  expect(handle.starts).toEqual([undefined, 4]);
});

it('goes on without stderr when nobody reads that', async () => {
  const io = new FakeIo();
  io.stderr.on('error', () => {});
  io.stderr._write = (_chunk, _encoding, done) => done(new Error('EPIPE'));
  const pump = new OutputPump(
    createHandle([output(1, 'x', 'stderr'), output(2, 'y', 'stderr'), output(3, 'z')]),
    io,
  );
  await pump.endAfter(3);
  expect({ stdout: io.stdout.text, isUnread: pump.isUnread }).toEqual({ stdout: 'z', isUnread: false });
});

it('has not ended before all was taken that it wrote', async () => {
  const io = new FakeIo();
  let take = () => {};
  io.stdout._write = (_chunk, _encoding, done) => {
    take = done;
    io.stdout.emit('said');
  };
  const pump = new OutputPump(createHandle([output(1, 'a')]), io);
  const isWritten = new Promise((resolve) => io.stdout.once('said', resolve));
  let isFinished = false;
  const finishing = pump.endAfter(1).then(() => {
    isFinished = true;
  });
  await isWritten;
  await new Promise(setImmediate);
  expect(isFinished).toBe(false);
  io.stdout._write = (_chunk, _encoding, done) => done();
  take();
  await finishing;
});
