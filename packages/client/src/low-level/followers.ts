import type { ParamsOf, ResultOf } from '@exec-server/protocol';
import { ExecServerError } from '../errors.js';
import type { ProcessOutput, ServerNotification } from '../notification-hub.js';
import type { RegisterOptions } from '../session-client.js';
import type { WireClient } from '../wire-client.js';
import { delay } from './abortable.js';
import { type FollowerHost, ProcessFollower } from './process-follower.js';
import type { ReadPage } from './read-log.js';
import { type SequencedEvent, toExitedEvent } from './sequenced-event.js';
import { STARTING_RETRY_MS } from './start-process.js';
import { isStillStarting, isUnknownProcess } from './to-exec-server-error.js';

/** Processes that are asked about at once after a reconnect. */
const CATCH_UPS_AT_ONCE = 16;

/** Names the client's own session; no server gives such an id. */
const OWN_SESSION = '';

/** All processes that a client follows. Each event goes to the one it is about, so that none waits for another. */
export class Followers {
  readonly #host: FollowerHost;
  /** By session, then by process. */
  readonly #followers = new Map<string, Map<string, ProcessFollower>>();
  /** How followed processes of other sessions were attached to. */
  readonly #attachments = new Map<ProcessFollower, ParamsOf<'process/attach'>>();

  constructor(host: FollowerHost) {
    this.#host = host;
  }

  /** @throws ExecServerError `usage` when the process is followed already */
  register(
    processId: string,
    { sessionId, afterSeq = 0, slowReader }: RegisterOptions,
    writeIdPrefix: string,
  ): ProcessFollower {
    if (this.find(processId, sessionId) !== undefined)
      throw new ExecServerError('usage', `session already registered for process ${processId}`);
    const onUnregister = () => this.#forget(follower);
    const follower = new ProcessFollower(this.#host, {
      processId,
      sessionId,
      afterSeq,
      slowReader,
      writeIdPrefix,
      onUnregister,
    });
    const ofSession = this.#followers.get(sessionId ?? OWN_SESSION) ?? new Map<string, ProcessFollower>();
    this.#followers.set(sessionId ?? OWN_SESSION, ofSession.set(processId, follower));
    return follower;
  }

  find(processId: string, sessionId?: string): ProcessFollower | undefined {
    return this.#followers.get(sessionId ?? OWN_SESSION)?.get(processId);
  }

  takeOutput({ processId, sessionId, seq, stream, data }: ProcessOutput): void {
    this.#push({ processId, sessionId }, { type: 'output', seq, stream, data });
  }

  /** Takes what tells of a process, other than its output. */
  takeNotification({ method, params }: ServerNotification): void {
    switch (method) {
      case 'process/exited':
        this.#push(params, toExitedEvent(params.seq, params.exitCode, params));
        break;
      case 'process/closed':
        this.#push(params, { type: 'closed', seq: params.seq });
        break;
      case 'process/lagged':
        this.#push(params, { type: 'gap', fromSeq: params.fromSeq, toSeq: params.toSeq });
        break;
    }
  }

  /** A process of another session was attached to; after a reconnect that is done again. */
  noteAttached(params: ParamsOf<'process/attach'>): void {
    const follower = params.sessionId && this.find(params.processId, params.sessionId);
    if (!follower) return;
    follower.noteStarted();
    this.#attachments.set(follower, params);
  }

  noteDetached({ processId, sessionId }: ParamsOf<'process/detach'>): void {
    const follower = this.find(processId, sessionId);
    if (follower !== undefined) this.#attachments.delete(follower);
  }

  /** A connection was lost; {@link Followers.catchUp} follows once there is another. */
  noteLoss(): void {
    for (const follower of this.#all()) if (follower.sessionId === undefined) follower.noteLoss();
  }

  /** Learns over a new connection what was missed of everything that is not over. Rejects when that connection fails. */
  async catchUp(wire: WireClient, signal: AbortSignal): Promise<void> {
    const waiting = this.#all().filter(({ isOver }) => !isOver);
    const work = async () => {
      for (let follower = waiting.pop(); follower !== undefined; follower = waiting.pop()) {
        if (follower.sessionId === undefined)
          await follower.catchUpFrom(readOver(wire, follower.processId, signal));
        else await this.#attachAgain(wire, follower, signal);
      }
    };
    await Promise.all(Array.from({ length: CATCH_UPS_AT_ONCE }, work));
  }

  failAll(error: ExecServerError): void {
    for (const follower of this.#all()) follower.fail(error);
  }

  #all(): ProcessFollower[] {
    return [...this.#followers.values()].flatMap((ofSession) => [...ofSession.values()]);
  }

  #push(
    { processId, sessionId }: { readonly processId: string; readonly sessionId?: string | undefined },
    event: SequencedEvent,
  ): void {
    const follower = this.find(processId, sessionId);
    if (follower === undefined) this.#host.publish(event, { processId, sessionId });
    else follower.push(event);
  }

  #forget(follower: ProcessFollower): void {
    const session = follower.sessionId ?? OWN_SESSION;
    const ofSession = this.#followers.get(session);
    ofSession?.delete(follower.processId);
    if (ofSession?.size === 0) this.#followers.delete(session);
    this.#attachments.delete(follower);
  }

  /** The server tells the rest itself then, and what it no longer has. */
  async #attachAgain(wire: WireClient, follower: ProcessFollower, signal: AbortSignal): Promise<void> {
    const attachment = this.#attachments.get(follower);
    if (attachment === undefined) return;
    try {
      await wire.call('process/attach', { ...attachment, afterSeq: follower.lastSeq }, { signal });
    } catch (error) {
      if (!isUnknownProcess(error)) throw error;
      follower.failAsForgotten();
    }
  }
}

function readOver(wire: WireClient, processId: string, signal: AbortSignal): ReadPage {
  return async (params): Promise<ResultOf<'process/read'> | undefined> => {
    for (;;) {
      try {
        return await wire.call('process/read', { processId, ...params }, { signal });
      } catch (error) {
        if (isUnknownProcess(error)) return undefined;
        if (!isStillStarting(error)) throw error;
      }
      await delay(STARTING_RETRY_MS, signal);
    }
  };
}
