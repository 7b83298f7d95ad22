import { startServer } from '@exec-server/testing';
import { expect, it, onTestFinished } from 'vitest';
import { firstOutput, openSession, startParams } from '../e2e/session.js';
import { BUILT_COMMAND } from './support.js';

const DESCRIPTORS = 64;
const FALLBACK = 'no thread could be started';

it.each([0, 1, 2, 3, 4, 8])('with %i descriptors left a terminal tells its screen', async (left) => {
  const limited = ['/bin/sh', '-c', `ulimit -n ${DESCRIPTORS}; exec "$@"`, 'sh'];
  const server = await startServer({ command: [...limited, process.execPath, BUILT_COMMAND] });
  onTestFinished(async () => void (await server.stop()));
  const { wire } = await openSession(server.url);
  const script = ['/bin/sh', '-c', 'printf drawn; read line'];
  await wire.request('process/start', startParams('tty', script, { tty: true, size: { rows: 2, cols: 20 } }));
  expect(await firstOutput(wire, 'tty')).toBe('drawn');

  const handles: string[] = [];
  for (;;) {
    const handleId = String(handles.length);
    const path = 'file:///etc/passwd';
    const { error } = await wire.request('fs/open', { handleId, path, mode: 'read' });
    if (error !== undefined) break;
    handles.push(handleId);
  }
  for (const handleId of handles.slice(0, left)) await wire.request('fs/close', { handleId });

  const { result } = await wire.request('process/snapshot', { processId: 'tty' });
  expect(result).toMatchObject({ screen: { lines: ['drawn', ''] } });
  expect((await wire.request('environment/status')).result).toEqual({ status: 'ready' });
  if (left === 0) expect(server.stderr()).toContain(FALLBACK);
  if (left === 8) expect(server.stderr()).not.toContain(FALLBACK);
});
