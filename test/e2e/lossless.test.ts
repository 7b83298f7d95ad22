import { fixture, openWire } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { openSession, serve, startParams } from './session.js';

const RUNS = 500;
const AT_ONCE = 10;

const lines = Array.from({ length: 2_048 }, (_, line) => `${String(line).padStart(9, '0')}\n`);

it.each([
  ['pipe', { tty: false }, 'stdout', lines.join('')],
  ['pty', { tty: true }, 'pty', lines.join('').replaceAll('\n', '\r\n')],
])(
  `${RUNS} programs that print 20 KB and exit lose nothing, %s`,
  async (_name, changes, stream, expected) => {
    const server = await serve();
    const { wire } = await openSession(server.url);
    const runOne = async (processId: string) => {
      await wire.request('process/start', startParams(processId, [fixture('print-20k')], changes));
      const isOurs = (method?: string) => (message: { method?: string; params?: Record<string, unknown> }) =>
        message.params?.processId === processId && (method === undefined || message.method === method);
      await wire.next(isOurs('process/closed'), `the end of ${processId}`);
      const events = wire.unread.filter(isOurs());
      for (const event of events) await wire.next((message) => message === event, 'what was just seen');
      const printed = events
        .filter(({ params }) => params?.stream === stream)
        .map(({ params }) => Buffer.from(params?.chunk as string, 'base64').toString())
        .join('');
      expect(printed === expected, `${processId} printed ${printed.length} of ${expected.length} bytes`).toBe(
        true,
      );
    };
    for (let first = 0; first < RUNS; first += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => runOne(`run-${first + index}`)));
    }
  },
);

it('a server that has nothing to do answers a connection that says nothing with nothing', async () => {
  const server = await serve();
  const silent = await openWire(server.url);
  const { wire } = await openSession(server.url);
  expect((await wire.request('environment/status')).result).toEqual({ status: 'ready' });
  expect(silent.received).toEqual([]);
  silent.terminate();
});
