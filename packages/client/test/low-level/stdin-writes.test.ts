import { describe, expect, test } from 'vitest';
import { MAX_WRITE_BYTES } from '../../src/low-level/stdin-writes.js';
import { type Answer, bytes, follow } from '../support/followed-process.js';
import type { ScriptedServer } from '../support/scripted-server.js';

describe('writes', () => {
  const accept: Answer = ({ id, method }, { send }) => {
    if (method === 'process/write') send({ id, result: { status: 'accepted' } });
  };
  const writesOf = (server: ScriptedServer) =>
    server.seen
      .filter(({ method }) => method === 'process/write')
      .map(({ params }) => params as { writeId: string; chunk: string });

  test('are numbered from 1 and one after the other', async () => {
    const { server, session } = await follow(accept);
    await Promise.all([session.write(bytes('a')), session.write(bytes('b'))]);
    expect(writesOf(server)).toEqual([
      { processId: 'p', writeId: '1', chunk: 'YQ==' },
      { processId: 'p', writeId: '2', chunk: 'Yg==' },
    ]);
  });

  test.each([
    [MAX_WRITE_BYTES - 1, 1],
    [MAX_WRITE_BYTES, 1],
    [MAX_WRITE_BYTES + 1, 2],
  ])('%i bytes go in %i pieces', async (size, pieces) => {
    const { server, session } = await follow(accept);
    await session.write(new Uint8Array(size));
    expect(writesOf(server)).toHaveLength(pieces);
  });

  test('stop at the piece that was not accepted', async () => {
    const { server, session } = await follow(({ id, method }, { send }) => {
      if (method === 'process/write') send({ id, result: { status: 'stdinClosed' } });
    });
    expect(await session.write(new Uint8Array(MAX_WRITE_BYTES + 1))).toEqual({ status: 'stdinClosed' });
    expect(writesOf(server)).toHaveLength(1);
  });

  test('have ids of their own where others may have written', async () => {
    const { server, client } = await follow(accept);
    await client.registerProcess('x', { sessionId: 'other' }).write(bytes('a'));
    expect(writesOf(server)[0]).toMatchObject({ processId: 'x', sessionId: 'other' });
    expect(writesOf(server)[0]?.writeId).toMatch(/^[0-9a-f]{32}-1$/);
  });

  test('cannot close stdin where the server cannot', async () => {
    const { server, session } = await follow(accept);
    await expect(session.write(bytes('a'), { closeStdin: true })).rejects.toMatchObject({
      code: 'capability_missing',
      capability: 'processCloseStdin',
    });
    expect(writesOf(server)).toEqual([]);
  });

  test('one that fails does not keep back the next', async () => {
    let first = true;
    const { session } = await follow(({ id, method }, { send }) => {
      if (method !== 'process/write') return;
      send(first ? { id, error: { code: -32603, message: 'no' } } : { id, result: { status: 'accepted' } });
      first = false;
    });
    await expect(session.write(bytes('a'))).rejects.toMatchObject({ code: 'rejected' });
    expect(await session.write(bytes('b'))).toEqual({ status: 'accepted' });
  });
});
