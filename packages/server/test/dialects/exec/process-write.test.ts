import { fixture } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import {
  openServer,
  openSession,
  shellParams,
  startParams,
  untilClosed,
  untilPrinted,
} from '../../support/session.js';

const open = () => openSession(openServer());
const accepted = { status: 'accepted' };

describe('statuses', () => {
  it('accepted, once per write id', async () => {
    const wire = await open();
    await wire.request('process/start', startParams('p', ['/bin/cat'], { pipeStdin: true }));
    const write = (chunk: string, writeId?: string) =>
      wire.request('process/write', { processId: 'p', chunk: btoa(chunk), writeId });
    expect((await write('one\n', 'w1')).result).toEqual(accepted);
    expect((await write('one\n', 'w1')).result).toEqual(accepted);
    expect((await write('', 'w2')).result).toEqual(accepted);
    // Older clients send no id; nothing tells their repeats apart.
    expect((await write('two\n')).result).toEqual(accepted);
    expect((await write('two\n')).result).toEqual(accepted);
    await untilPrinted(wire, 'p', 'two\ntwo\n');
    await wire.request('process/terminate', { processId: 'p' });
    expect((await untilClosed(wire, 'p')).stdout.toString()).toBe('one\ntwo\ntwo\n');
  });

  it('stdinClosed without a pipe, unknownProcess without a process', async () => {
    const wire = await open();
    await wire.request('process/start', startParams('p', ['/bin/sleep', '30']));
    const write = (processId: string) =>
      wire.request('process/write', { processId, chunk: 'eA==', writeId: '1' });
    expect((await write('p')).result).toEqual({ status: 'stdinClosed' });
    expect((await write('q')).result).toEqual({ status: 'unknownProcess' });
  });

  it('still accepted after the child exited, an error after it was terminated', async () => {
    const wire = await open();
    const write = (processId: string) =>
      wire.request('process/write', { processId, chunk: 'eA==', writeId: '1' });
    await wire.request('process/start', shellParams('exited', 'exit 0', { pipeStdin: true }));
    await untilClosed(wire, 'exited');
    expect((await write('exited')).result).toEqual(accepted);
    await wire.request('process/start', startParams('killed', ['/bin/cat'], { pipeStdin: true }));
    await wire.request('process/terminate', { processId: 'killed' });
    expect((await write('killed')).error).toMatchObject({
      code: -32603,
      message: 'failed to write to process stdin',
    });
  });
});

it.each([
  ['empty write id', { chunk: 'eA==', writeId: '' }],
  ['bad symbol', { chunk: '!!!', writeId: '1' }],
  ['missing padding', { chunk: 'YQ', writeId: '1' }],
  ['trailing bits', { chunk: 'YR==', writeId: '1' }],
])('%s is refused before the process is looked up', async (_name, params) => {
  const wire = await open();
  expect((await wire.request('process/write', { processId: 'none', ...params })).error?.code).toBe(-32602);
});

describe('closing stdin', () => {
  it('ends the input behind what was written', async () => {
    const wire = await open();
    await wire.request('process/start', startParams('p', ['/bin/cat'], { pipeStdin: true }));
    await wire.request('process/write', { processId: 'p', chunk: btoa('last words'), writeId: '1' });
    expect((await wire.request('process/closeStdin', { processId: 'p' })).result).toEqual(accepted);
    expect((await untilClosed(wire, 'p')).stdout.toString()).toBe('last words');
  });

  it('goes with a write, and a repeat of that write is no news', async () => {
    const wire = await open();
    await wire.request('process/start', startParams('p', ['/usr/bin/wc', '-c'], { pipeStdin: true }));
    const write = {
      processId: 'p',
      chunk: Buffer.alloc(300_000).toString('base64'),
      writeId: '1',
      closeStdin: true,
    };
    const answers = await Promise.all([
      wire.request('process/write', write),
      wire.request('process/write', write),
    ]);
    expect(answers.map(({ result }) => result)).toEqual([accepted, accepted]);
    expect((await untilClosed(wire, 'p')).stdout.toString()).toBe('300000\n');
  });

  it('leaves nothing to be written behind it', async () => {
    const wire = await open();
    await wire.request('process/start', startParams('p', ['/bin/sleep', '30'], { pipeStdin: true }));
    await wire.request('process/closeStdin', { processId: 'p' });
    const write = { processId: 'p', chunk: 'eA==', writeId: '1' };
    expect((await wire.request('process/write', write)).result).toEqual({ status: 'stdinClosed' });
    expect((await wire.request('process/closeStdin', { processId: 'p' })).result).toEqual({
      status: 'stdinClosed',
    });
  });

  it('sends the end-of-file character of a terminal, whatever that is', async () => {
    const wire = await open();
    await wire.request(
      'process/start',
      shellParams('p', 'stty eof ^X; echo ready; cat; echo end', { tty: true }),
    );
    await untilPrinted(wire, 'p', 'ready');
    expect((await wire.request('process/closeStdin', { processId: 'p' })).result).toEqual(accepted);
    expect((await untilClosed(wire, 'p')).pty.toString()).toMatch(/end\r\n$/);
  });

  it('of no stdin, or of no process, says so', async () => {
    const wire = await open();
    await wire.request('process/start', startParams('p', ['/bin/sleep', '30']));
    expect((await wire.request('process/closeStdin', { processId: 'p' })).result).toEqual({
      status: 'stdinClosed',
    });
    expect((await wire.request('process/closeStdin', { processId: 'q' })).result).toEqual({
      status: 'unknownProcess',
    });
  });
});

it('writes sent right behind the start keep their order', async () => {
  const wire = await open();
  const lines = Array.from({ length: 200 }, (_, index) => `line ${index}\n`);
  wire.send({
    id: 'start',
    method: 'process/start',
    params: startParams('p', ['/bin/cat'], { pipeStdin: true }),
  });
  for (const [index, line] of lines.entries()) {
    const params = { processId: 'p', chunk: btoa(line), writeId: `${index}` };
    wire.send({ id: `w${index}`, method: 'process/write', params });
  }
  await wire.next(({ id }) => id === 'w199', 'the last answer');
  await untilPrinted(wire, 'p', 'line 199\n');
  await wire.request('process/terminate', { processId: 'p' });
  expect((await untilClosed(wire, 'p')).stdout.toString()).toBe(lines.join(''));
});

describe.each([
  ['pipe', { pipeStdin: true }],
  ['pty', { tty: true }],
])('a child that never reads its stdin, %s', (_name, changes) => {
  it('delays no other request, and terminate answers and fails what waits', async () => {
    const wire = await open();
    await wire.request('process/start', startParams('p', [fixture('never-read-stdin')], changes));
    await untilPrinted(wire, 'p', 'ready');
    const chunk = Buffer.alloc(16_384, 'x').toString('base64');
    const writes = Array.from({ length: 1_000 }, (_, index) =>
      wire.request('process/write', { processId: 'p', chunk, writeId: `${index}` }),
    );
    expect((await wire.request('environment/status')).result).toEqual({ status: 'ready' });
    await wire.request('process/start', shellParams('q', 'echo quick'));
    expect((await untilClosed(wire, 'q')).stdout.toString()).toBe('quick\n');
    expect((await wire.request('process/terminate', { processId: 'p' })).result).toMatchObject({
      running: true,
    });
    const answers = await Promise.all(writes);
    const failed = answers.filter(({ error }) => error?.message === 'failed to write to process stdin');
    expect(failed.length).toBeGreaterThan(900);
    expect(failed.length + answers.filter(({ result }) => result?.status === 'accepted').length).toBe(1_000);
    expect((await untilClosed(wire, 'p')).exitCode).toBe(137);
  });
});
