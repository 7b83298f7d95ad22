import { openWire, type RunningServer, startServer, type Wire, type WireMessage } from '@exec-server/testing';
import { onTestFinished } from 'vitest';

/** The built command, serving until the test ends. */
export async function serve(...args: string[]): Promise<RunningServer> {
  const server = await startServer({ args });
  onTestFinished(async () => void (await server.stop()));
  return server;
}

/** A WebSocket connection that has shaken hands. */
export async function openSession(
  url: string,
  resumeSessionId?: string,
): Promise<{ wire: Wire; sessionId: string }> {
  const wire = await openWire(url);
  onTestFinished(() => wire.terminate());
  const { result } = await wire.request('initialize', { clientName: 'e2e', resumeSessionId });
  wire.send({ method: 'initialized' });
  return { wire, sessionId: result?.sessionId as string };
}

/** Params of `process/start` with everything that tests do not care about. */
export function startParams(processId: string, argv: readonly string[], changes: object = {}): object {
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
  return { processId, argv, cwd: 'file:///tmp', env, tty: false, ...changes };
}

/** Whether a message is that notification of that process. */
export function notificationOf(processId: string, method: string): (message: WireMessage) => boolean {
  return (message) => message.method === method && message.params?.processId === processId;
}

/** Waits for a process's first output, as text. */
export async function firstOutput(wire: Wire, processId: string): Promise<string> {
  const { params } = await wire.next(notificationOf(processId, 'process/output'), `output of ${processId}`);
  return Buffer.from(params?.chunk as string, 'base64').toString();
}
