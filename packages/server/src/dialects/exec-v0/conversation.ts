import { invalidRequest, type RequestId, type RpcError } from '@exec-server/protocol';
import type { ParseErrorRule } from '@exec-server/rpc';
import { hasMember, isCommandMethod } from '../../connection/choose-dialect.js';
import type { OutputSink } from '../../output/output-sink.js';
import type { Session, SessionOwner } from '../../sessions/session.js';
import type { SessionRegistry } from '../../sessions/session-registry.js';
import type { Conversation, ConversationHost, DialectMethod } from '../dialect.js';
import { openNewSession } from '../open-new-session.js';
import { ProcessSinks } from '../process-sinks.js';

/** Members that only this generation's requests have; they tell it from the app dialect, whose methods have its names. */
const OWN_MEMBERS = ['argv', 'chunk', 'sessionId'];

/** What conversations in this dialect have in common. */
export interface V0Services {
  readonly sessions: SessionRegistry;
  readonly methods: ReadonlyMap<string, DialectMethod>;
  /** The same without their names. */
  readonly own: ReadonlySet<DialectMethod>;
}

/**
 * A client of the current protocol that may turn out to be of the oldest generation, by calling one of its methods. The
 * processes of these have a session of their own, which ends with the connection.
 */
export class V0Conversation implements Conversation, SessionOwner {
  #initialized = false;
  #inUse = false;
  #session: Session | undefined;

  constructor(
    private readonly host: ConversationHost,
    private readonly current: Conversation,
    private readonly services: V0Services,
  ) {}

  get remote(): string {
    return this.host.info.remote;
  }

  get isGone(): boolean {
    return this.host.holder.isGone;
  }

  createSink(processId: string): OutputSink {
    return this.host.scope.keep(ProcessSinks).take(processId);
  }

  announce(): void {
    // The answer to `command/exec` says what became of a start.
  }

  get parseErrors(): ParseErrorRule {
    return this.#inUse ? 'close' : this.current.parseErrors;
  }

  initialize(params: unknown): unknown {
    const result = this.current.initialize(params);
    const note = (answer: unknown) => {
      this.#initialized = true;
      return answer;
    };
    return result instanceof Promise ? result.then(note) : note(result);
  }

  find(method: string, params: unknown): DialectMethod | undefined {
    if (!isCommandMethod(method)) return this.current.find(method, params);
    if (!this.#initialized) return this.#findEarly(method, params);
    this.#inUse = true;
    return this.services.methods.get(method);
  }

  /** Nobody has said yet what the connection speaks, so that a request of this generation has to look like one. */
  #findEarly(method: string, params: unknown): DialectMethod | undefined {
    if (!OWN_MEMBERS.some((name) => hasMember(params, name))) return this.current.find(method, params);
    const found = this.services.methods.get(method);
    if (found === undefined) throw unknownCommand(method);
    // Whatever else is wrong with it comes later than that.
    this.current.admit(found);
    return found;
  }

  unknownMethod(method: string): RpcError {
    return this.#inUse ? unknownCommand(method) : this.current.unknownMethod(method);
  }

  admit(method: DialectMethod): Session {
    const session = this.current.admit(method);
    if (!this.services.own.has(method)) return session;
    this.#session ??= openNewSession(this.services.sessions, this.host.info.principal, this);
    return this.#session;
  }

  overloaded(): RpcError {
    return this.current.overloaded();
  }

  takeNotification(method: string): string | undefined {
    return this.current.takeNotification(method);
  }

  takeUnexpectedResponse(id: RequestId): string | undefined {
    return this.current.takeUnexpectedResponse(id);
  }

  close(): void {
    if (this.#session !== undefined) this.services.sessions.end(this.#session);
    this.current.close();
  }
}

function unknownCommand(method: string): RpcError {
  return invalidRequest(`unknown method: ${method}`, 'method_not_found');
}
