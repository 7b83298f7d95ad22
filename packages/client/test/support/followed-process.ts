import { encodeBase64 } from '@exec-server/protocol';
import { ExecServerClient } from '../../src/low-level/exec-server-client.js';
import type { ProcessEvent } from '../../src/process-event.js';
import type { ProcessSession } from '../../src/process-session.js';
import { type ScriptedServer, type SeenMessage, scriptAcceptingServer } from './scripted-server.js';

export const bytes = (text: string) => new TextEncoder().encode(text);
export const output = (seq: number, text = `${seq}`, processId = 'p') => ({
  method: 'process/output',
  params: { processId, seq, stream: 'stdout', chunk: encodeBase64(bytes(text)) },
});
export const exited = (seq: number, processId = 'p') => ({
  method: 'process/exited',
  params: { processId, seq, exitCode: 3 },
});
export const closed = (seq: number, processId = 'p') => ({
  method: 'process/closed',
  params: { processId, seq },
});
export const chunk = (seq: number) => ({ seq, stream: 'stdout', chunk: encodeBase64(bytes(`${seq}`)) });

export function brief(event: ProcessEvent): string {
  if (event.type === 'gap') return `gap ${event.fromSeq}-${event.toSeq}`;
  return event.type === 'failed' ? `failed ${event.message}` : `${event.type} ${event.seq}`;
}

/** Takes `count` events, or all. */
export async function take(events: AsyncIterable<ProcessEvent>, count = Number.POSITIVE_INFINITY) {
  const taken: string[] = [];
  if (count === 0) return taken;
  for await (const event of events) {
    taken.push(brief(event));
    if (taken.length === count) break;
  }
  return taken;
}

/** Resolves when the event of that number was published. */
export function published(session: ProcessSession, seq: number): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (session.lastSeq >= seq) resolve();
    };
    session.listen(check);
    check();
  });
}

export type Answer = (message: SeenMessage, server: ScriptedServer) => void;

export async function follow(
  answer?: Answer,
  options: ConstructorParameters<typeof ExecServerClient>[1] = {},
) {
  const server = scriptAcceptingServer(
    { sessionId: 's', environmentInfo: { shell: { name: 'sh', path: 'sh' } } },
    answer,
  );
  const client = await ExecServerClient.connect(server.transport, options);
  return { server, client, session: client.registerProcess('p') };
}

/** Answers `process/read` as a server whose log has the given numbers would. */
export const logOf =
  (seqs: readonly number[], nextSeq: number, more: object = {}): Answer =>
  ({ id, method, params }, { send }) => {
    if (method !== 'process/read') return;
    const { afterSeq = 0 } = params as { afterSeq?: number };
    const chunks = seqs.filter((seq) => seq > afterSeq).map(chunk);
    const last = chunks.at(-1);
    send({
      id,
      result: {
        chunks,
        nextSeq: last === undefined ? nextSeq : last.seq + 1,
        exited: false,
        exitCode: null,
        closed: false,
        failure: null,
        ...more,
      },
    });
  };
