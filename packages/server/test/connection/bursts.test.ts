import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { openServer, startParams } from '../support/session.js';
import { makeTempDirectory } from '../support/temp-directory.js';

const BURST = 200;
const starts = Array.from({ length: BURST }, (_, id) => ({
  id,
  method: 'process/start',
  params: startParams(`p${id}`, ['/bin/sleep', '300']),
}));

/** Lines that arrive in one read. */
const toLines = (messages: readonly object[]) =>
  messages.map((message) => `${JSON.stringify(message)}\n`).join('');

/** A connection that has shaken hands, and the ids of the answers as they come in. */
async function openSession(path: string, onAnswer: (id: unknown) => void): Promise<Socket> {
  const socket = connect(path);
  onTestFinished(() => void socket.destroy());
  const lines = createInterface({ input: socket });
  const greeted = once(lines, 'line');
  socket.write(
    toLines([
      { id: 'hello', method: 'initialize', params: { clientName: 'test' } },
      { method: 'initialized' },
    ]),
  );
  await greeted;
  lines.on('line', (line) => {
    const { id } = JSON.parse(line) as { id?: unknown };
    if (id !== undefined) onAnswer(id);
  });
  return socket;
}

it('a burst of starts lets another connection have its turn before it is over', async () => {
  const path = join(await makeTempDirectory(), 'socket');
  await openServer().listen(`unix://${path}`);
  const answers: unknown[] = [];
  const over = new Promise<void>((resolve) => {
    const note = (id: unknown) => {
      answers.push(id);
      if (answers.length === BURST + 1) resolve();
    };
    void Promise.all([openSession(path, note), openSession(path, note)]).then(([busy, bystander]) => {
      busy.write(toLines(starts));
      bystander.write(toLines([{ id: 'status', method: 'environment/status' }]));
    });
  });
  await over;
  expect(answers.indexOf('status')).toBeLessThan(BURST / 2);
  expect(answers.filter((id) => id !== 'status')).toEqual(starts.map(({ id }) => id));
});

it('a client that goes right after a burst has had all of it', async () => {
  const path = join(await makeTempDirectory(), 'socket');
  const events: string[] = [];
  const auditLog = { record: ({ event }: { event: string }) => void events.push(event) };
  await openServer({ auditLog }).listen(`unix://${path}`);
  const socket = await openSession(path, () => {});
  socket.end(toLines(starts));
  await once(socket, 'close');
  expect(events.filter((event) => event === 'process-started')).toHaveLength(BURST);
});
