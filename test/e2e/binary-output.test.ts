import { createHash } from 'node:crypto';
import { WireClient } from '@exec-server/client';
import { connectWebSocket } from '@exec-server/rpc/node';
import { expect, it, onTestFinished } from 'vitest';
import { serve } from './session.js';

const LINES = 3_000_000;
const start = {
  processId: 'p',
  argv: ['/usr/bin/seq', String(LINES)],
  cwd: 'file:///tmp',
  env: {},
  tty: false,
};

/** Runs the program and tells what a client that pauses now and then got of it. */
async function run(url: string, binaryOutput: boolean) {
  const client = await WireClient.connect(await connectWebSocket(url), { clientName: 'e2e', binaryOutput });
  onTestFinished(() => client.close());
  const hash = createHash('sha256');
  const seqs: number[] = [];
  let notifications = 0;
  client.on('process/output', () => notifications++);
  client.onOutput(({ seq, data }) => {
    seqs.push(seq);
    hash.update(data);
    if (seqs.length % 100 !== 0) return;
    client.pause();
    setImmediate(() => client.resume());
  });
  client.on('process/exited', ({ seq }) => seqs.push(seq));
  const closed = new Promise<void>((resolve) => {
    client.on('process/closed', ({ seq }) => {
      seqs.push(seq);
      resolve();
    });
  });
  await client.call('process/start', start);
  await closed;
  return { granted: client.binaryOutput, digest: hash.digest('hex'), seqs, notifications };
}

it('the client gets the same bytes in both forms, each in the order of their numbers', async () => {
  const server = await serve();
  const expected = createHash('sha256');
  for (let line = 1; line <= LINES; line++) expected.update(`${line}\n`);
  const digest = expected.digest('hex');
  for (const binaryOutput of [false, true]) {
    const story = await run(server.url, binaryOutput);
    expect([story.granted, story.digest]).toEqual([binaryOutput, digest]);
    expect(story.seqs).toEqual(Array.from(story.seqs, (_, index) => index + 1));
    expect(story.notifications).toBe(binaryOutput ? 0 : story.seqs.length - 2);
  }
});
