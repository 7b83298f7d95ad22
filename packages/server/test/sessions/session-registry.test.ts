import { openInProcessWire, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import {
  notificationOf,
  openServer,
  openSession,
  readToEnd,
  shellParams,
  startParams,
  untilClosed,
  untilPrinted,
} from '../support/session.js';

const initialize = (resumeSessionId?: string) => ({ clientName: 'test', resumeSessionId });

describe('resume', () => {
  it('keeps the session id and the processes, and pushes to the new connection', async () => {
    const server = openServer();
    const first = await openSession(server);
    await first.request('process/start', startParams('cat', ['/bin/cat'], { pipeStdin: true }));
    await first.request('process/write', { processId: 'cat', chunk: btoa('one\n'), writeId: 'w1' });
    await untilPrinted(first, 'cat', 'one');
    await first.close();
    const second = await openSession(server, first.sessionId);
    expect(second.sessionId).toBe(first.sessionId);
    // The write id survives the connection: this is not written again.
    await second.request('process/write', { processId: 'cat', chunk: btoa('one\n'), writeId: 'w1' });
    await second.request('process/write', { processId: 'cat', chunk: btoa('two\n'), writeId: 'w2' });
    await untilPrinted(second, 'cat', 'two');
    const { result } = await second.request('process/read', { processId: 'cat' });
    expect(result).toMatchObject({
      chunks: [
        { seq: 1, chunk: btoa('one\n') },
        { seq: 2, chunk: btoa('two\n') },
      ],
      nextSeq: 3,
    });
  });

  it('finds what a process did while nobody was there, end included', async () => {
    const server = openServer();
    const first = await openSession(server);
    await first.request('process/start', shellParams('p', 'read x; echo "$x"; exit 8', { tty: true }));
    await first.request('process/write', { processId: 'p', chunk: btoa('away\n'), writeId: '1' });
    await first.close();
    const second = await openSession(server, first.sessionId);
    const { chunks, end } = await readToEnd(second, 'p');
    expect(end).toMatchObject({ exited: true, exitCode: 8 });
    expect(Buffer.concat(chunks).toString()).toContain('away');
  });

  it('is refused while another connection holds the session', async () => {
    const server = openServer();
    const first = await openSession(server);
    const second = openInProcessWire(server);
    expect((await second.request('initialize', initialize(first.sessionId))).error).toMatchObject({
      code: -32010,
      message: `session ${first.sessionId} is already attached to another connection`,
    });
    // The refusal does not use up the connection's one initialize.
    await first.close();
    expect((await second.request('initialize', initialize(first.sessionId))).result).toMatchObject({
      sessionId: first.sessionId,
    });
  });

  it('of an unknown session, or of somebody else’s, is refused in the same words', async () => {
    const server = openServer();
    const first = await openSession(server);
    await first.close();
    const stranger = openInProcessWire(server, { principal: { kind: 'custom', subject: 'somebody else' } });
    for (const id of ['no-such-session', first.sessionId]) {
      expect((await stranger.request('initialize', initialize(id))).error).toMatchObject({
        code: -32600,
        message: `unknown session id ${id}`,
      });
    }
  });

  it('takes back the requests of the lost connection', async () => {
    const server = openServer();
    const first = await openSession(server);
    await first.request('process/start', startParams('p', ['/bin/sleep', '60'], { pipeStdin: true }));
    const chunk = Buffer.alloc(1024 * 1024, 'x').toString('base64');
    first.send({ id: 'a', method: 'process/write', params: { processId: 'p', chunk, writeId: 'a' } });
    first.send({ id: 'b', method: 'process/write', params: { processId: 'p', chunk, writeId: 'b' } });
    await first.next(({ id }) => id === 'a', 'the first write');
    await first.close();
    const second = await openSession(server, first.sessionId);
    const again = second.request('process/write', { processId: 'p', chunk, writeId: 'b' });
    await second.request('process/terminate', { processId: 'p' });
    expect((await again).error?.code).toBe(-32603);
  });
});

describe('a session without a connection', () => {
  it('is kept for 30 s, then ends with its processes', async () => {
    const clock = new FakeClock();
    const server = openServer({ clock });
    const first = await openSession(server);
    await first.request('process/start', shellParams('p', 'echo $$; exec sleep 60'));
    const { params } = await first.next(notificationOf('p', 'process/output'), 'the pid');
    const pid = Number(atob(params?.chunk as string));
    await first.close();
    clock.advance(29_999);
    const second = await openSession(server, first.sessionId);
    await second.close();
    clock.advance(30_000);
    await waitForProcessGone(pid);
    const third = openInProcessWire(server);
    expect((await third.request('initialize', initialize(first.sessionId))).error?.message).toBe(
      `unknown session id ${first.sessionId}`,
    );
  });

  it('leaves no timer behind once it is resumed', async () => {
    const clock = new FakeClock();
    const server = openServer({ clock });
    const first = await openSession(server);
    await first.close();
    await openSession(server, first.sessionId);
    expect(clock.pendingTimers).toBe(0);
  });

  it('goes on draining: the log keeps the newest output', async () => {
    const server = openServer({ retainedOutputBytes: 100_000 });
    const first = await openSession(server);
    const script = 'read x; head -c 3000000 /dev/zero | tr "\\0" x; echo; echo end';
    await first.request('process/start', shellParams('p', script, { pipeStdin: true }));
    await first.request('process/write', { processId: 'p', chunk: btoa('go\n'), writeId: '1' });
    await first.close();
    const second = await openSession(server, first.sessionId);
    await readToEnd(second, 'p');
    const { chunks } = await readToEnd(second, 'p');
    const kept = Buffer.concat(chunks);
    expect(kept.length).toBeLessThanOrEqual(100_000);
    expect(kept.subarray(-5).toString()).toBe('\nend\n');
  });

  it('ends at once where the client cannot come back', async () => {
    const server = openServer();
    const wire = openInProcessWire(server, { resumable: false });
    const { result } = await wire.request('initialize', initialize());
    await wire.close();
    const other = openInProcessWire(server);
    expect((await other.request('initialize', initialize(result?.sessionId as string))).error?.code).toBe(
      -32600,
    );
  });
});

it('a session’s end reaches what its finished processes left in the group', async () => {
  const clock = new FakeClock();
  const server = openServer({ clock });
  const wire = await openSession(server);
  await wire.request('process/start', shellParams('p', 'sleep 60 >/dev/null 2>&1 & echo $!'));
  const story = await untilClosed(wire, 'p');
  clock.advance(60_000);
  await wire.close();
  clock.advance(30_000);
  await waitForProcessGone(Number(story.stdout.toString()));
});

describe('the limit of sessions', () => {
  const LIMIT = 2;
  const full = { code: -32001, message: `the server has its limit of ${LIMIT} sessions` };

  it('is reached with the last that fits', async () => {
    const server = openServer({ maxSessions: LIMIT });
    await openSession(server);
    await openSession(server);
    const late = openInProcessWire(server);
    expect((await late.request('initialize', initialize())).error).toMatchObject(full);
    expect(
      (await late.request('initialize', { clientInfo: { name: 'test', version: '1' } })).error,
    ).toMatchObject(full);
  });

  it('refuses nobody for sessions that hold nothing: the longest detached one goes', async () => {
    const server = openServer({ maxSessions: LIMIT });
    const [first, second] = [await openSession(server), await openSession(server)];
    await first.close();
    await second.close();
    await openSession(server);
    const late = openInProcessWire(server);
    expect((await late.request('initialize', initialize(first.sessionId))).error?.message).toBe(
      `unknown session id ${first.sessionId}`,
    );
    expect((await late.request('initialize', initialize(second.sessionId))).result).toBeDefined();
  });

  it('ends no session of another principal, whose client may come back', async () => {
    const server = openServer({ maxSessions: LIMIT });
    const open = (subject: string) => openInProcessWire(server, { principal: { kind: 'custom', subject } });
    const [first, second] = [open('anna'), open('anna')];
    await first.request('initialize', initialize());
    await second.request('initialize', initialize());
    await first.close();
    const stranger = open('bert');
    expect((await stranger.request('initialize', initialize())).error).toMatchObject(full);
    const third = open('anna');
    expect((await third.request('initialize', initialize())).result).toBeDefined();
    await second.close();
    expect((await stranger.request('initialize', initialize())).error).toMatchObject(full);
  });

  it('ends none that has a process, and has room again when its time is over', async () => {
    const clock = new FakeClock();
    const server = openServer({ clock, maxSessions: LIMIT, detachedSessionMs: 1_000 });
    const [first, second] = [await openSession(server), await openSession(server)];
    await first.request('process/start', startParams('p', ['/bin/sleep', '60']));
    await second.request('process/start', startParams('p', ['/bin/sleep', '60']));
    await first.close();
    const late = openInProcessWire(server);
    expect((await late.request('initialize', initialize())).error).toMatchObject(full);
    clock.advance(1_000);
    expect((await late.request('initialize', initialize())).result).toBeDefined();
  });

  it('is for the sessions of the oldest generation, too', async () => {
    const server = openServer({ maxSessions: 1 });
    const wire = await openSession(server);
    const params = { processId: 'p', argv: ['/bin/true'], cwd: '/', env: {}, tty: false };
    expect((await wire.request('command/exec', params)).error).toMatchObject({ code: -32001 });
  });
});
