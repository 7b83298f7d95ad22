import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileOrder } from '../../src/connection/file-order.js';
import { openServer, openSession, shellParams } from '../support/session.js';

describe('file order', () => {
  it('lets reads run beside each other', () => {
    const order = new FileOrder();
    expect([order.take('reads').before, order.take('reads').before]).toEqual([undefined, undefined]);
  });

  it('a change waits for everything before it, and what comes later waits for the change', async () => {
    const order = new FileOrder();
    const trace: string[] = [];
    const turns = (['reads', 'changes', 'reads', 'changes'] as const).map((access, index) => {
      const turn = order.take(access);
      void turn.before?.then(() => trace.push(`${index} may begin`));
      return turn;
    });
    const settled = () => new Promise((resolve) => setImmediate(resolve));
    for (const turn of turns) {
      turn.done();
      await settled();
    }
    expect(trace).toEqual(['1 may begin', '2 may begin', '3 may begin']);
    expect(order.take('changes').before).toBeUndefined();
  });
});

describe('requests about files that are sent without waiting', () => {
  const directory = mkdtempSync(join(tmpdir(), 'exec-server-order-'));
  const uri = (name: string) => `file://${directory}/${name}`;
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  it('act in the order in which they were sent', async () => {
    const wire = await openSession(openServer());
    type Requests = readonly [method: string, params: object][];
    const sendAll = (requests: Requests) =>
      Promise.all(requests.map(([method, params]) => wire.request(method, params)));
    for (let run = 0; run < 20; run++) {
      const first: Requests = [
        ['fs/createDirectory', { path: uri(`d${run}/e`) }],
        ['fs/writeFile', { path: uri(`d${run}/e/f`), dataBase64: base64('A'.repeat(400_000)) }],
        ['fs/writeFile', { path: uri(`d${run}/e/f`), dataBase64: base64('BBB') }],
        ['fs/readFile', { path: uri(`d${run}/e/f`) }],
        ['process/start', shellParams(`p${run}`, `test "$(cat ${directory}/d${run}/e/f)" = BBB`)],
        ['process/wait', { processId: `p${run}` }],
      ];
      // Once the program has ended, since nothing waits for what it does with files.
      const second: Requests = [
        ['fs/copy', { sourcePath: uri(`d${run}`), destinationPath: uri(`c${run}`), recursive: true }],
        ['fs/remove', { path: uri(`d${run}`) }],
        ['fs/getMetadata', { path: uri(`d${run}`) }],
      ];
      const answers = [...(await sendAll(first)), ...(await sendAll(second))];
      expect(answers.map(({ error }) => error?.code)).toEqual([...Array(8).fill(undefined), -32004]);
      expect(answers[3]?.result).toEqual({ dataBase64: base64('BBB') });
      expect(answers[5]?.result).toMatchObject({ exitCode: 0 });
      expect(readFileSync(`${directory}/c${run}/e/f`, 'utf8')).toBe('BBB');
    }
  });
});
