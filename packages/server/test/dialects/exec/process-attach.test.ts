import { randomUUID } from 'node:crypto';
import { type InProcessWire, openInProcessWire } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { connectInMemory } from '../../support/output-client.js';
import { openServer, openSession, startParams, untilClosed, untilPrinted } from '../../support/session.js';

const cat = (processId: string) => startParams(processId, ['/bin/cat'], { pipeStdin: true });

async function write(wire: InProcessWire, text: string, target: object): Promise<object | undefined> {
  const { result, error } = await wire.request('process/write', {
    chunk: btoa(text),
    writeId: text,
    ...target,
  });
  return result ?? error;
}

/** An owner with a running `cat`, and another connection of the same principal. */
async function openPair(options: Parameters<typeof openServer>[0] = {}) {
  const server = openServer(options);
  const [owner, viewer] = [await openSession(server), await openSession(server)];
  await owner.request('process/start', cat('p'));
  return { server, owner, viewer, target: { processId: 'p', sessionId: owner.sessionId } };
}

describe('attaching', () => {
  it('tells the history and everything after it, with the session it is of', async () => {
    const { owner, viewer, target } = await openPair();
    await write(owner, 'one', { processId: 'p' });
    await untilPrinted(owner, 'p', 'one');
    const { result } = await viewer.request('process/attach', target);
    expect(result).toMatchObject({ ...target, running: true, nextSeq: 2, argv: ['/bin/cat'] });
    await write(owner, 'two', { processId: 'p' });
    await owner.request('process/closeStdin', { processId: 'p' });
    const story = await untilClosed(viewer, 'p');
    expect(story).toMatchObject({ exitCode: 0, seqs: [1, 2, 3, 4] });
    expect(story.stdout.toString()).toBe('onetwo');
    const events = viewer.received.filter(({ method }) => method?.startsWith('process/'));
    expect(events.every(({ params }) => params?.sessionId === owner.sessionId)).toBe(true);
    // The owner's notifications are as they always were.
    expect(owner.received.some(({ params }) => params?.sessionId !== undefined)).toBe(false);
  });

  it('begins behind the cursor', async () => {
    const { owner, viewer, target } = await openPair();
    for (const text of ['one', 'two']) {
      await write(owner, text, { processId: 'p' });
      await untilPrinted(owner, 'p', text);
    }
    await viewer.request('process/attach', { ...target, afterSeq: 1 });
    await owner.request('process/closeStdin', { processId: 'p' });
    expect((await untilClosed(viewer, 'p')).seqs).toEqual([2, 3, 4]);
  });

  it('works on a process that has closed', async () => {
    const { owner, viewer, target } = await openPair();
    await write(owner, 'done', { processId: 'p' });
    await owner.request('process/closeStdin', { processId: 'p' });
    await untilClosed(owner, 'p');
    expect((await viewer.request('process/attach', target)).result).toMatchObject({
      running: false,
      exitCode: 0,
    });
    expect((await untilClosed(viewer, 'p')).stdout.toString()).toBe('done');
  });

  it.each([0, 100])('behind the end of a closed process, by %i, is over at once', async (beyond) => {
    const { owner, viewer, target } = await openPair();
    await owner.request('process/closeStdin', { processId: 'p' });
    const { seqs } = await untilClosed(owner, 'p');
    await viewer.request('process/attach', { ...target, afterSeq: seqs.length + beyond });
    expect((await viewer.request('process/detach', target)).result).toEqual({ attached: false });
  });

  it('tells what is no longer retained as a gap', async () => {
    const { owner, viewer, target } = await openPair({ retainedOutputBytes: 4 });
    for (const text of ['aaaa', 'bbbb', 'cccc']) {
      await write(owner, text, { processId: 'p' });
      await untilPrinted(owner, 'p', text);
    }
    await viewer.request('process/attach', target);
    const { params } = await viewer.next(({ method }) => method === 'process/lagged', 'the gap');
    // Four bytes are kept in pieces of one.
    expect(params).toEqual({ ...target, fromSeq: 1, toSeq: 8 });
    await untilPrinted(viewer, 'p', 'cccc');
  });

  it('of one’s own process is refused: its events arrive anyway', async () => {
    const { owner } = await openPair();
    expect((await owner.request('process/attach', { processId: 'p' })).error?.code).toBe(-32600);
  });

  it('of an id that nobody has says so, also without a session', async () => {
    const { owner } = await openPair();
    const { error } = await owner.request('process/attach', { processId: 'never' });
    expect(error).toMatchObject({ message: 'unknown process id never', data: { code: 'process_unknown' } });
  });
});

describe('who may', () => {
  it('another principal’s process does not exist', async () => {
    const { server, target } = await openPair();
    const stranger = openInProcessWire(server, { principal: { kind: 'custom', subject: 'somebody else' } });
    await stranger.request('initialize', { clientName: 'test' });
    stranger.send({ method: 'initialized' });
    const unknown = { code: -32600, message: 'unknown process id p' };
    expect((await stranger.request('process/attach', target)).error).toMatchObject(unknown);
    expect((await stranger.request('process/read', target)).error).toMatchObject(unknown);
    expect(await write(stranger, 'x', target)).toEqual({ status: 'unknownProcess' });
    expect((await stranger.request('process/terminate', target)).result).toEqual({
      running: false,
      pids: [],
    });
  });

  it('a viewer reads, waits and takes snapshots, but acts only with control', async () => {
    const { owner, viewer, target } = await openPair();
    await viewer.request('process/attach', { ...target, mode: 'view' });
    expect((await viewer.request('process/read', target)).result).toMatchObject({ exited: false });
    expect((await viewer.request('process/snapshot', target)).result).toMatchObject({ running: true });
    const refused = {
      code: -32600,
      message: `process p of session ${owner.sessionId} is not attached for control`,
    };
    expect(await write(viewer, 'x', target)).toMatchObject(refused);
    expect((await viewer.request('process/signal', { ...target, signal: 'interrupt' })).error).toMatchObject(
      refused,
    );
    expect((await viewer.request('process/terminate', target)).error).toMatchObject(refused);
    await viewer.request('process/attach', { ...target, mode: 'control' });
    expect(await write(viewer, 'hello', target)).toEqual({ status: 'accepted' });
    await untilPrinted(owner, 'p', 'hello');
    expect((await viewer.request('process/terminate', target)).result).toMatchObject({ running: true });
    expect((await untilClosed(owner, 'p')).exitCode).toBe(137);
  });
});

describe('detaching', () => {
  it('ends the events and the control', async () => {
    const { owner, viewer, target } = await openPair();
    await viewer.request('process/attach', { ...target, mode: 'control' });
    expect((await viewer.request('process/detach', target)).result).toEqual({ attached: true });
    expect((await viewer.request('process/detach', target)).result).toEqual({ attached: false });
    expect(await write(viewer, 'x', target)).toMatchObject({ code: -32600 });
    await write(owner, 'unseen', { processId: 'p' });
    await untilPrinted(owner, 'p', 'unseen');
    expect(viewer.received.filter(({ method }) => method === 'process/output')).toEqual([]);
  });

  it('comes behind the attaching, also when both are asked for at once', async () => {
    const { owner, viewer, target } = await openPair({ concurrentRequests: 1 });
    // Holds the only place, so that the request to detach could overtake the one to attach.
    const reading = viewer.request('fs/readFile', { path: 'file:///proc/self/status' });
    const [attached, detached] = await Promise.all([
      viewer.request('process/attach', target),
      viewer.request('process/detach', target),
    ]);
    await reading;
    expect([attached.error, detached.result]).toEqual([undefined, { attached: true }]);
    await write(owner, 'unseen', { processId: 'p' });
    await untilPrinted(owner, 'p', 'unseen');
    expect(viewer.received.some(({ method }) => method === 'process/output')).toBe(false);
  });

  it('comes with the end of the connection, and the process runs on', async () => {
    const { owner, viewer, target } = await openPair();
    await viewer.request('process/attach', target);
    await viewer.close();
    await write(owner, 'still here', { processId: 'p' });
    await untilPrinted(owner, 'p', 'still here');
  });
});

it.each([
  [1, true],
  [2, true],
  [3, false],
])('with a limit of two, attachment %i is allowed: %s', async (count, allowed) => {
  const { owner, viewer } = await openPair({ attachedProcesses: 2 });
  let last: Awaited<ReturnType<typeof viewer.request>> | undefined;
  for (let index = 1; index <= count; index++) {
    await owner.request('process/start', cat(`p${index}`));
    last = await viewer.request('process/attach', { processId: `p${index}`, sessionId: owner.sessionId });
  }
  expect(last?.error === undefined).toBe(allowed);
});

describe('a viewer that does not read', () => {
  /** What one letter takes in the queue; session ids have the length of a UUID. */
  const EVENT_BYTES = JSON.stringify({
    method: 'process/output',
    params: { processId: 'p', sessionId: randomUUID(), seq: 1, stream: 'stdout', chunk: btoa('a') },
  }).length;

  it.each([
    [2 * EVENT_BYTES - 1, 2],
    [2 * EVENT_BYTES, 2],
    [2 * EVENT_BYTES + 1, 3],
  ])(
    'with %i bytes to its queue is sent %i of five events, and the rest when it reads',
    async (bytes, sent) => {
      // Beyond two bytes it is the queue of viewers alone that decides.
      const server = openServer({
        viewerQueueBytes: bytes,
        outboundHighWaterBytes: 2,
        outboundLowWaterBytes: 1,
      });
      const owner = await openSession(server);
      await owner.request('process/start', cat('p'));
      const { client, serverSide } = await connectInMemory(server);
      await client.initialize();
      await client.request('process/attach', { processId: 'p', sessionId: owner.sessionId });
      client.transport.pause();
      for (const letter of 'abcde') {
        await write(owner, letter, { processId: 'p' });
        await untilPrinted(owner, 'p', letter);
      }
      expect(serverSide.bufferedBytes).toBe(sent * EVENT_BYTES);
      client.transport.resume();
      await owner.request('process/closeStdin', { processId: 'p' });
      const events = await client.untilClosed('p');
      expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    },
  );
});
