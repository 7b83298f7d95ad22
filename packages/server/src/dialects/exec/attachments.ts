import { invalidRequest } from '@exec-server/protocol';
import { type FollowerSink, LogFollower } from '../../output/log-follower.js';
import type { RetainedChunk } from '../../output/retained-chunk.js';
import type { ManagedProcess, ProcessEvent } from '../../process/managed-process.js';
import type { ConnectionResource, ConnectionScope } from '../dialect.js';
import { chooseOutputMessages, type OutputMessages } from './output-messages.js';
import { exitedParams } from './owner-sink.js';

/** What a connection may do with a process that is not its own. */
export type AttachMode = 'view' | 'control';

interface Attachment {
  readonly mode: AttachMode;
  readonly follower: LogFollower;
}

/** Where an attachment begins, and within which bounds. */
export interface AttachOptions {
  readonly sessionId: string;
  readonly afterSeq: number;
  readonly mode: AttachMode;
  /** Processes that one connection may be attached to. */
  readonly limit: number;
  /** Bytes queued to the connection at which the viewer waits in the log. */
  readonly queueBytes: number;
}

/** The processes of other sessions that a connection watches or drives. */
export class Attachments implements ConnectionResource {
  readonly #attached = new Map<string, Attachment>();
  #closed = false;

  constructor(private readonly connection: ConnectionScope) {}

  /** Begins to tell the events of a process; a second time replaces the first. */
  attach(process: ManagedProcess, options: AttachOptions): void {
    // A request may outlive its connection by a moment, and nobody would stop what it starts then.
    if (this.#closed) return;
    const key = keyOf(options.sessionId, process.id);
    this.detach(options.sessionId, process.id);
    if (this.#attached.size >= options.limit)
      throw invalidRequest(
        `at most ${options.limit} processes may be attached per connection`,
        'limit_reached',
      );
    const sink = new ViewerSink(this.connection, process, options);
    const follower = new LogFollower(process, options.afterSeq, sink, () => this.#attached.delete(key));
    this.#attached.set(key, { mode: options.mode, follower });
    follower.start();
  }

  detach(sessionId: string, processId: string): boolean {
    const key = keyOf(sessionId, processId);
    this.#attached.get(key)?.follower.stop();
    return this.#attached.delete(key);
  }

  /** Whether the connection may act on a process of another session. */
  controls(sessionId: string, processId: string): boolean {
    return this.#attached.get(keyOf(sessionId, processId))?.mode === 'control';
  }

  close(): void {
    this.#closed = true;
    for (const { follower } of this.#attached.values()) follower.stop();
    this.#attached.clear();
  }
}

/** Ids are any text, so that a separator alone would not tell two pairs apart. */
function keyOf(sessionId: string, processId: string): string {
  return JSON.stringify([sessionId, processId]);
}

/** Messages of one chunk in one form are the same for every viewer; each is made once while somebody needs it. */
const encoded: Readonly<Record<OutputMessages['form'], WeakMap<RetainedChunk, object>>> = {
  json: new WeakMap(),
  binary: new WeakMap(),
  object: new WeakMap(),
};

/** Sends a process's events to a connection that does not own it, each with the session that does. */
class ViewerSink implements FollowerSink {
  readonly #messages: OutputMessages;

  constructor(
    private readonly connection: ConnectionScope,
    private readonly process: ManagedProcess,
    private readonly options: Pick<AttachOptions, 'sessionId' | 'queueBytes'>,
  ) {
    this.#messages = chooseOutputMessages(connection, process.id, options.sessionId);
  }

  get writable(): boolean {
    // What the connection takes again is never refused here: whoever waits for the one waits for both.
    return this.connection.writable || this.connection.bufferedBytes < this.options.queueBytes;
  }

  whenWritable(): Promise<void> {
    return this.connection.whenWritable();
  }

  event(event: ProcessEvent): void {
    const target = { processId: this.process.id, sessionId: this.options.sessionId };
    if (event.kind === 'output') this.#messages.send(this.#encode(event.chunk));
    else if (event.kind === 'closed') this.connection.notify('process/closed', { ...target, seq: event.seq });
    else this.connection.notify('process/exited', { ...target, ...exitedParams(event.seq, event.exit) });
  }

  lagged(fromSeq: number, toSeq: number): void {
    const { sessionId } = this.options;
    this.connection.notify('process/lagged', { processId: this.process.id, sessionId, fromSeq, toSeq });
  }

  #encode(chunk: RetainedChunk): object {
    const ofThisForm = encoded[this.#messages.form];
    const known = ofThisForm.get(chunk);
    if (known !== undefined) return known;
    const message = this.#messages.encode(chunk);
    ofThisForm.set(chunk, message);
    return message;
  }
}
