import type { WireMessage } from '@exec-server/testing';
import type { Bindings } from './placeholders.js';

/** Whether `message` carries output of a process in one of the dialects that cut it without numbering the pieces. */
export function isOutputDelta({ method }: WireMessage): boolean {
  return method === 'command/exec/outputDelta' || method === 'process/outputDelta';
}

/** The process that a message of the app dialect, or of the oldest generation, is about. */
export function subjectOf({ method, params = {} }: WireMessage): string | undefined {
  if (params.processHandle !== undefined) return `handle ${JSON.stringify(params.processHandle)}`;
  if (method?.startsWith('command/exec') && params.processId !== undefined)
    return `process ${JSON.stringify(params.processId)}`;
  if (method?.startsWith('command/exec/') && params.sessionId !== undefined)
    return `session ${JSON.stringify(params.sessionId)}`;
  return undefined;
}

interface StreamOutput {
  readonly bytes: Buffer;
  readonly capReached: boolean;
}

/** What the deltas of one process among `messages` come to, by stream. */
function joinDeltas(
  messages: readonly WireMessage[],
  subject: string,
  bindings: Bindings,
): Map<string, StreamOutput> {
  const streams = new Map<string, StreamOutput>();
  for (const message of messages) {
    if (!isOutputDelta(message) || subjectOf(message) !== subject) continue;
    const { stream, deltaBase64, chunk, capReached } = message.params ?? {};
    const known = streams.get(String(stream));
    streams.set(String(stream), {
      bytes: Buffer.concat([
        known?.bytes ?? Buffer.alloc(0),
        bindings.decodeChunk(String(deltaBase64 ?? chunk)),
      ]),
      capReached: (known?.capReached ?? false) || capReached === true,
    });
  }
  return streams;
}

/** Whether `received` has all the output of a process that `recorded` has. */
export function coversDeltas(
  received: readonly WireMessage[],
  recorded: readonly WireMessage[],
  subject: string,
  bindings: Bindings,
): boolean {
  const mine = joinDeltas(received, subject, bindings);
  return [...joinDeltas(recorded, subject, bindings)].every(
    ([stream, { bytes }]) => (mine.get(stream)?.bytes.length ?? 0) >= bytes.length,
  );
}

/** How the output of a process differs from what was recorded, however both were cut. */
export function compareDeltas(
  received: readonly WireMessage[],
  recorded: readonly WireMessage[],
  subject: string,
  bindings: Bindings,
): string[] {
  const [mine, theirs] = [joinDeltas(received, subject, bindings), joinDeltas(recorded, subject, bindings)];
  return [...new Set([...mine.keys(), ...theirs.keys()])].flatMap((stream) => {
    const [actual, expected] = [describe(mine.get(stream)), describe(theirs.get(stream))];
    return actual === expected ? [] : [`${subject}, ${stream}: expected ${expected}, got ${actual}`];
  });
}

function describe(output: StreamOutput | undefined): string {
  if (output === undefined) return 'nothing';
  return JSON.stringify(output.bytes.toString()) + (output.capReached ? ' up to its cap' : '');
}
