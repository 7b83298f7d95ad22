import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { InboundTotal } from '../../src/connection/inbound-total.js';
import { RAW_LINKS, type RawLink } from '../support/raw-links.js';
import { openServer, openSession, shellParams } from '../support/session.js';

const LIMIT_BYTES = 1000;

function createTotal(...held: number[]) {
  const gone: number[] = [];
  const reasons: string[] = [];
  const connections = held.map((heldBytes, index) => ({
    heldBytes,
    isSentAway: false,
    sendAway(reason: string) {
      this.isSentAway = true;
      gone.push(index);
      reasons.push(reason);
    },
  }));
  const total = new InboundTotal(connections, LIMIT_BYTES);
  for (const bytes of held) total.add(bytes);
  return { total, connections, gone, reasons };
}

it.each([
  [[LIMIT_BYTES - 1], []],
  [[LIMIT_BYTES], []],
  [[LIMIT_BYTES + 1], [0]],
  [[400, 500, 100], []],
  [[400, 500, 101], [1]],
  [
    [600, 700, 800],
    [2, 1],
  ],
])('of connections that hold %o bytes %o go', async (held, gone) => {
  const total = createTotal(...held);
  await nextTurn();
  expect(total.gone).toEqual(gone);
});

it('says how many bytes they are', async () => {
  const { reasons } = createTotal(LIMIT_BYTES + 1);
  await nextTurn();
  expect(reasons).toEqual([
    'clients have sent more than the limit of 1000 bytes in all, and 1001 of them came from here',
  ]);
});

it('does nothing when they are let go of by then', async () => {
  const { total, connections, gone } = createTotal(LIMIT_BYTES + 1);
  connections[0]!.heldBytes = 0;
  total.add(-LIMIT_BYTES - 1);
  await nextTurn();
  expect(gone).toEqual([]);
});

it('lets others alone while what it has sent away still holds something', async () => {
  const { total, connections, gone } = createTotal(900, 800);
  await nextTurn();
  expect(gone).toEqual([0]);
  connections[1]!.heldBytes += 200;
  total.add(200);
  await nextTurn();
  expect(gone).toEqual([0]);
  connections[1]!.heldBytes += 1;
  total.add(1);
  await nextTurn();
  expect(gone).toEqual([0, 1]);
});

const TOTAL_BYTES = 3_000_000;
const COMPLAINT = `clients have sent more than the limit of ${TOTAL_BYTES} bytes in all`;

async function shakeHands(link: RawLink, resumeSessionId?: string): Promise<void> {
  link.send(JSON.stringify({ id: 1, method: 'initialize', params: { clientName: 'test', resumeSessionId } }));
  await link.hears('"id":1,"result"');
  link.send('{"method":"initialized"}');
}

describe.each(Object.entries(RAW_LINKS))('over %s', (_name, open) => {
  it('the one that has most of an unfinished message goes, with a reason, and the others live', async () => {
    const server = openServer({ inboundTotalBytes: TOTAL_BYTES });
    const [modest, greedy] = [await open(server), await open(server)];
    const other = await openSession(server);
    await shakeHands(modest);
    await shakeHands(greedy);
    const ask = (text: string) => JSON.stringify({ id: 2, method: 'environment/status', params: { text } });
    const small = ask('x'.repeat(200_000));
    modest.sendUnfinished(small);
    greedy.sendUnfinished(ask('x'.repeat(TOTAL_BYTES)));
    expect(await greedy.closed).toContain(COMPLAINT);
    modest.write(modest.encode(small).subarray(-1));
    await modest.hears('"id":2');
    expect((await other.request('environment/status')).result).toEqual({ status: 'ready' });
  });
});

it('requests that are pending count, and are abandoned', async () => {
  const server = openServer({ inboundTotalBytes: TOTAL_BYTES, stdinQueueBytes: 1000 });
  const link = await RAW_LINKS['a WebSocket']!(server);
  await shakeHands(link);
  const start = {
    id: 2,
    method: 'process/start',
    params: shellParams('p', 'exec sleep 60', { pipeStdin: true }),
  };
  link.send(JSON.stringify(start));
  await link.hears('"id":2,"result"');
  // The first is queued whatever its size; the others wait for the child to read.
  const chunk = Buffer.alloc(600_000).toString('base64');
  for (let id = 3; id < 9; id++) {
    const params = { processId: 'p', chunk, writeId: `w${id}` };
    link.send(JSON.stringify({ id, method: 'process/write', params }));
  }
  expect(await link.closed).toContain(COMPLAINT);
});
