import type { ExecServer } from '@exec-server/server';
import { type InProcessWire, openInProcessWire, type WireMessage } from '@exec-server/testing';
import type { AuditEvent } from '../../src/telemetry/audit.js';

/** A connection that has shaken hands in the app dialect. */
export async function openAppClient(
  server: ExecServer,
  capabilities: object | null = { experimentalApi: true },
): Promise<InProcessWire> {
  const wire = openInProcessWire(server);
  const clientInfo = { name: 'test', version: '1.0' };
  const { error } = await wire.request('initialize', { clientInfo, capabilities });
  if (error !== undefined) throw new Error(`initialize failed: ${JSON.stringify(error)}`);
  wire.send({ method: 'initialized' });
  return wire;
}

/** Runs a shell script with `command/exec` and waits for the answer. */
export function runScript(wire: InProcessWire, script: string, changes: object = {}): Promise<WireMessage> {
  return wire.request('command/exec', { command: ['/bin/sh', '-c', script], ...changes });
}

/** Sends a request without waiting; the function waits for its answer. */
export function begin(wire: InProcessWire, method: string, params: object): () => Promise<WireMessage> {
  const answer = wire.request(method, params);
  // A test that fails for another reason must not fail for this one too.
  answer.catch(() => {});
  return () => answer;
}

/** Either family's name for the process that a notification is about. */
function subjectOf({ params }: WireMessage): unknown {
  return params?.processId ?? params?.processHandle;
}

/** Whether a message carries output of a process. */
export function isDeltaOf(id: string) {
  return (message: WireMessage) =>
    message.method?.endsWith('/outputDelta') === true && subjectOf(message) === id;
}

/** Waits until a process has sent `text`, in one or several pieces. */
export async function untilSent(wire: InProcessWire, id: string, text: string): Promise<string> {
  let sent = '';
  while (!sent.includes(text)) {
    const { params } = await wire.next(isDeltaOf(id), `${id} to send ${text}`);
    sent += Buffer.from(params?.deltaBase64 as string, 'base64').toString();
  }
  return sent;
}

/** Everything that was sent of a stream so far. */
export function sentBy(wire: InProcessWire, id: string, stream = 'stdout'): string {
  const deltas = wire.received.filter(
    (message) => isDeltaOf(id)(message) && message.params?.stream === stream,
  );
  return Buffer.concat(
    deltas.map(({ params }) => Buffer.from(params?.deltaBase64 as string, 'base64')),
  ).toString();
}

/** Waits for the notification that ends a process of `process/spawn`. */
export async function untilExited(wire: InProcessWire, processHandle: string) {
  const { params } = await wire.next(
    (message) => message.method === 'process/exited' && subjectOf(message) === processHandle,
    `process/exited of ${processHandle}`,
  );
  return params;
}

/** An audit log that tells when something has happened, which no message does. */
export function watchAudit() {
  const events: AuditEvent[] = [];
  const waiters = new Set<() => void>();
  return {
    events,
    auditLog: {
      record(event: AuditEvent) {
        events.push(event);
        for (const wake of waiters) wake();
      },
    },
    /** The next event of that kind, or one that has happened already. */
    until: async (kind: AuditEvent['event']): Promise<AuditEvent> => {
      for (;;) {
        const found = events.find(({ event }) => event === kind);
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => waiters.add(resolve));
      }
    },
  };
}
