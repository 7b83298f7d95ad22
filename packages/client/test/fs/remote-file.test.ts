import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { RemoteFile } from '../../src/fs/remote-file.js';
import { toPathUri } from '../../src/fs/remote-path.js';
import { countCalls, failureOf, openFiles } from '../support/files.js';

it('is over with its connection, also when the next one stands already', async () => {
  const { client, dialer, path } = await openFiles();
  writeFileSync(path('f'), 'content');
  const file = await RemoteFile.open(client, toPathUri(path('f')), { mode: 'read', operation: 'test' });
  expect(await file.read(0, 100)).toEqual({ bytes: new TextEncoder().encode('content'), isLast: true });
  const lost = new Promise((resolve) => client.onLoss(resolve));
  dialer.cut();
  await lost;
  await client.ready();
  expect(await failureOf(file.read(0, 1))).toMatchObject({ code: 'connection_lost' });
  const closes = countCalls(client, 'fs/close');
  await file.close();
  expect(closes.total).toBe(0);
});

it('an opening that is given up leaves no file open', async () => {
  const { client, path } = await openFiles();
  writeFileSync(path('f'), '');
  const closes = countCalls(client, 'fs/close');
  const abort = new AbortController();
  const call = client.call.bind(client);
  client.call = (method, params, options) => {
    const answer = call(method, params, options);
    if (method === 'fs/open') abort.abort(new Error('enough'));
    return answer;
  };
  const opening = RemoteFile.open(client, toPathUri(path('f')), {
    mode: 'read',
    operation: 'test',
    signal: abort.signal,
  });
  await expect(opening).rejects.toThrow('enough');
  expect(closes.total).toBe(1);
});
