import { createExecServer } from '@exec-server/server';
import { afterEach, describe, expect, test } from 'vitest';
import { ExecServerClient } from '../../src/low-level/exec-server-client.js';
import type { ProcessEvent } from '../../src/process-event.js';
import { CuttingDialer } from '../support/cutting-dialer.js';

const server = createExecServer();
const start = (processId: string, script: string) => ({
  processId,
  argv: ['/bin/sh', '-c', script],
  cwd: 'file:///tmp',
  env: { PATH: process.env.PATH ?? '' },
  tty: false,
  pipeStdin: true,
});

test('smoke', async () => {
  const dialer = new CuttingDialer(server);
  const client = new ExecServerClient(dialer);
  const session = client.registerProcess('p');
  session.listen((e) => console.log('EV', e.type, (e as any).seq, (e as any).message));
  client.onLoss((e) => console.log('LOSS', e.message));
  await client.exec(start('p', 'echo hi; cat; echo bye'));
  const seen: ProcessEvent[] = [];
  await session.write(new TextEncoder().encode('one\n'));
  for await (const event of session.events()) {
    seen.push(event);
    if (seen.length === 2) break;
  }
  console.log('cut');
  dialer.cut();
  await session.write(new TextEncoder().encode('two\n'), { closeStdin: true });
  console.log('written');
  for await (const event of session.events({ afterSeq: 2 })) seen.push(event);
  console.log(seen.map((e) => (e.type === 'output' ? new TextDecoder().decode(e.data) : e)));
  expect(dialer.dials).toBe(2);
  await client.close();
  await server.close();
});
