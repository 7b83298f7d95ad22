import type { StdioServer, Wire, WireMessage } from '@exec-server/testing';
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

/** The messages that a connection has received, and a way to wait for more. */
type Receiver = Pick<Wire | StdioServer, 'received' | 'next'>;

/** The recorded output of one connection's processes, against which what arrives is compared however it is cut. */
export class DeltaBook {
  readonly #recorded: WireMessage[] = [];

  constructor(private readonly bindings: Bindings) {}

  /** Takes a recorded piece and waits until as much of its process has arrived. */
  async receive(receiver: Receiver, recorded: WireMessage): Promise<void> {
    this.#recorded.push(recorded);
    const subject = subjectOf(recorded) ?? '';
    while (!this.#isCovered(receiver.received, subject)) {
      await receiver.next(
        (message) => isOutputDelta(message) && subjectOf(message) === subject,
        `output of ${subject}`,
      );
    }
  }

  /** How the output of the process that ends with `end` differs from what was recorded by then. */
  compareBefore({ received }: Receiver, end: WireMessage, subject: string | undefined): string[] {
    return subject === undefined ? [] : this.#compare(received.slice(0, received.indexOf(end)), subject);
  }

  /** How the output of all processes differs. */
  compareAll({ received }: Receiver): string[] {
    const deltas = [...this.#recorded, ...received].filter(isOutputDelta);
    return [...new Set(deltas.map(subjectOf))].flatMap((subject) => this.#compare(received, subject ?? ''));
  }

  #isCovered(received: readonly WireMessage[], subject: string): boolean {
    const mine = joinDeltas(received, subject, this.bindings);
    return [...joinDeltas(this.#recorded, subject, this.bindings)].every(
      ([stream, { bytes }]) => (mine.get(stream)?.bytes.length ?? 0) >= bytes.length,
    );
  }

  #compare(received: readonly WireMessage[], subject: string): string[] {
    const mine = joinDeltas(received, subject, this.bindings);
    const theirs = joinDeltas(this.#recorded, subject, this.bindings);
    return [...new Set([...mine.keys(), ...theirs.keys()])].flatMap((stream) => {
      const [actual, expected] = [describe(mine.get(stream)), describe(theirs.get(stream))];
      return actual === expected ? [] : [`${subject}, ${stream}: expected ${expected}, got ${actual}`];
    });
  }
}

function describe(output: StreamOutput | undefined): string {
  if (output === undefined) return 'nothing';
  return JSON.stringify(output.bytes.toString()) + (output.capReached ? ' up to its cap' : '');
}
