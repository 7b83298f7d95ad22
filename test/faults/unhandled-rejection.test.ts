import { startServer } from '@exec-server/testing';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openSession } from '../e2e/session.js';
import { BUILT_COMMAND } from './support.js';

/** Makes a server reject something that nobody waits for, at a signal. */
const REJECT =
  'data:text/javascript,process.on("SIGUSR2", () => void Promise.reject(new Error("nobody waits")))';

it('a rejection that nobody handles is logged, and the server goes on', async () => {
  const server = await startServer({ command: [process.execPath, '--import', REJECT, BUILT_COMMAND] });
  onTestFinished(async () => void (await server.stop()));
  const { wire } = await openSession(server.url);
  server.kill('SIGUSR2');
  await vi.waitFor(() => expect(server.stderr()).toContain('nobody waits'), { timeout: 10_000 });
  expect((await wire.request('environment/status')).result).toBeDefined();
  expect((await server.stop()).code).toBe(0);
});
