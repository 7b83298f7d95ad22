import { createExecServer, type ExecServer, type ExecServerOptions } from '@exec-server/server';
import { type InProcessWire, openInProcessWire, type WireMessage } from '@exec-server/testing';
import { onTestFinished } from 'vitest';

/** A server that ends with the test. */
export function openServer(options: ExecServerOptions = {}): ExecServer {
  const server = createExecServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** A connection that has shaken hands. */
export async function openSession(
  server: ExecServer,
  resumeSessionId?: string,
): Promise<InProcessWire & { sessionId: string }> {
  const wire = openInProcessWire(server);
  const answer = await wire.request('initialize', { clientName: 'test', resumeSessionId });
  if (answer.result === undefined) throw new Error(`initialize failed: ${JSON.stringify(answer.error)}`);
  wire.send({ method: 'initialized' });
  return Object.assign(wire, { sessionId: answer.result.sessionId as string });
}

/** Params of `process/start` with everything that tests do not care about. */
export function startParams(processId: string, argv: readonly string[], changes: object = {}): object {
  return {
    processId,
    argv,
    cwd: 'file:///tmp',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    tty: false,
    ...changes,
  };
}

/** Params of `process/start` for a shell script. */
export function shellParams(processId: string, script: string, changes: object = {}): object {
  return startParams(processId, ['/bin/sh', '-c', script], changes);
}

/** One notification of a process, told apart by its method and, for output, by nothing else. */
export function notificationOf(processId: string, method: string) {
  return (message: WireMessage) => message.method === method && message.params?.processId === processId;
}

/** Everything that was pushed about a process until it closed. */
export interface ProcessStory {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly pty: Buffer;
  /** The numbers in order of arrival. */
  readonly seqs: readonly number[];
}

/** Waits for `process/closed` and tells what was pushed before. */
export async function untilClosed(wire: InProcessWire, processId: string): Promise<ProcessStory> {
  await wire.next(notificationOf(processId, 'process/closed'), `process/closed of ${processId}`);
  const events = wire.received.filter(
    ({ method, params }) => method?.startsWith('process/') && params?.processId === processId,
  );
  const streamBytes = (stream: string) =>
    Buffer.concat(
      events
        .filter(({ params }) => params?.stream === stream)
        .map(({ params }) => Buffer.from(params?.chunk as string, 'base64')),
    );
  const exited = events.find(({ method }) => method === 'process/exited');
  return {
    exitCode: exited?.params?.exitCode as number,
    stdout: streamBytes('stdout'),
    stderr: streamBytes('stderr'),
    pty: streamBytes('pty'),
    seqs: events.map(({ params }) => params?.seq as number),
  };
}

/** Waits until a process has printed `text` on any stream. */
export async function untilPrinted(wire: InProcessWire, processId: string, text: string): Promise<void> {
  let printed = '';
  while (!printed.includes(text)) {
    const message = await wire.next(
      notificationOf(processId, 'process/output'),
      `${processId} to print ${text}`,
    );
    printed += Buffer.from(message.params?.chunk as string, 'base64').toString();
  }
}

/** Reads a process's log until it closed: what was retained, and the last answer. */
export async function readToEnd(
  wire: InProcessWire,
  processId: string,
): Promise<{ chunks: Buffer[]; end: Record<string, unknown> }> {
  const chunks: Buffer[] = [];
  for (let afterSeq = 0; ; ) {
    const { result } = await wire.request('process/read', { processId, afterSeq, waitMs: 10_000 });
    if (result === undefined) throw new Error(`${processId} cannot be read`);
    for (const { chunk } of result.chunks as { chunk: string }[]) chunks.push(Buffer.from(chunk, 'base64'));
    afterSeq = (result.nextSeq as number) - 1;
    if (result.closed === true) return { chunks, end: result };
  }
}
