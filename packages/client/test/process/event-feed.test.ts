import { describe, expect, it } from 'vitest';
import type { ExecServerError } from '../../src/errors.js';
import { ConnectionLostError } from '../../src/errors.js';
import { EventFeed, MAX_FEED_BYTES, MAX_FEED_EVENTS } from '../../src/process/event-feed.js';
import type { RoutedEvent } from '../../src/process-event.js';
import { collect, openMachine, openMachineOn, openServer, sh } from '../support/machine.js';

describe('events of a machine', () => {
  it('tell output and exit of every process, each to its end', async () => {
    const machine = await openMachine();
    const events = machine.events();
    const ids = ['1', '2', '3'];
    await Promise.all(ids.map((id) => machine.run(sh(`echo ${id}; exit 2`), { id })));
    const seen = new Map<string, string[]>();
    let closed = 0;
    for await (const event of events) {
      const text = event.type === 'output' ? new TextDecoder().decode(event.data).trim() : event.type;
      seen.set(event.processId, [...(seen.get(event.processId) ?? []), text]);
      if (event.type === 'closed' && ++closed === ids.length) break;
    }
    // The last output of a process may come before or after its exit.
    for (const id of ids) expect(seen.get(id)?.sort()).toEqual([id, 'closed', 'exited']);
  });

  it('tell of processes that nobody follows here', async () => {
    const machine = await openMachine();
    const events = machine.events();
    await machine.client.call('process/start', {
      processId: 'bare',
      argv: ['/bin/echo', 'hi'],
      cwd: 'file:///',
      env: {},
      tty: false,
    });
    const types: string[] = [];
    for await (const { type, processId } of events) {
      expect(processId).toBe('bare');
      types.push(type);
      if (type === 'closed') break;
    }
    expect(types.sort()).toEqual(['closed', 'exited', 'output']);
  });

  it("name the session of another's process", async () => {
    const server = openServer();
    const [owner, other] = [await openMachineOn(server), await openMachineOn(server)];
    await using job = await owner.spawn(sh('echo hi; exec sleep 300'));
    await job.waitFor({ line: 'hi' });
    const events = other.events();
    await using seen = await other.attach(job.id);
    const { value } = await events.next();
    expect(value).toMatchObject({ type: 'output', processId: job.id, sessionId: owner.sessionId });
    seen.detach();
    await events.return?.();
  });

  it('end with the machine, and with their signal', async () => {
    const machine = await openMachine();
    const controller = new AbortController();
    const stopped = collect(machine.events({ signal: controller.signal }));
    const closed = collect(machine.events());
    controller.abort();
    expect(await stopped).toEqual([]);
    await machine.close();
    expect(await closed).toEqual([]);
  });
});

describe('a reader that is too slow', () => {
  it.each([
    [MAX_FEED_EVENTS - 1, 0],
    [MAX_FEED_EVENTS, 0],
    [MAX_FEED_EVENTS + 1, 1],
  ])('of %i events misses %i', async (count, missed) => {
    const { feed, push, end } = openFeed();
    for (let seq = 1; seq <= count; seq++) push(output('p', seq, 1));
    end();
    const events = await collect(feed);
    const gaps = events.flatMap((event) => (event.type === 'gap' ? [event.toSeq - event.fromSeq + 1] : []));
    expect(gaps).toEqual(missed === 0 ? [] : [missed]);
    expect(events.length).toBe(Math.min(count, MAX_FEED_EVENTS) + gaps.length);
  });

  it('of too many bytes is told exactly what it missed of each process, and never an end', async () => {
    const { feed, push, end } = openFeed();
    push(output('a', 1, MAX_FEED_BYTES));
    for (const seq of [2, 3]) push(output('a', seq, 1));
    push(output('b', 1, 1));
    push(output('a', 4, 1));
    push({ type: 'closed', seq: 5, processId: 'a', sessionId: undefined });
    await feed.next();
    push(output('b', 2, 1));
    end();
    expect(await collect(feed)).toMatchObject([
      { type: 'gap', fromSeq: 2, toSeq: 4, processId: 'a' },
      { type: 'gap', fromSeq: 1, toSeq: 1, processId: 'b' },
      { type: 'closed', seq: 5, processId: 'a' },
      { type: 'output', seq: 2, processId: 'b' },
    ]);
  });
});

it('a session that is lost is an error behind the last event', async () => {
  const { feed, push, end } = openFeed();
  push(output('p', 1, 1));
  const loss = new ConnectionLostError('gone');
  end(loss);
  expect((await feed.next()).value).toMatchObject({ seq: 1 });
  await expect(feed.next()).rejects.toBe(loss);
  expect(await feed.next()).toEqual({ done: true, value: undefined });
});

function output(processId: string, seq: number, bytes: number): RoutedEvent {
  return {
    type: 'output',
    seq,
    stream: 'stdout',
    data: new Uint8Array(bytes),
    processId,
    sessionId: undefined,
  };
}

/** A feed whose events come from the test. */
function openFeed() {
  let push: (event: RoutedEvent) => void = () => {};
  let tellOver: (error: ExecServerError) => void = () => {};
  const feed = new EventFeed({
    onProcessEvent(listener) {
      push = listener;
      return () => {};
    },
    onOver(listener) {
      tellOver = listener;
      return () => {};
    },
  });
  const closedHere = new ConnectionLostError('closed', { retryable: false });
  return { feed, push, end: (error: ExecServerError = closedHere) => tellOver(error) };
}
