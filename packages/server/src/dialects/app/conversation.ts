import { invalidRequest, overloaded, type RpcError } from '@exec-server/protocol';
import type { OutputSink } from '../../output/output-sink.js';
import type { ProcessEngine } from '../../process/process-engine.js';
import type { Session, SessionOwner } from '../../sessions/session.js';
import type { SessionRegistry } from '../../sessions/session-registry.js';
import type { Conversation, ConversationHost, DialectMethod } from '../dialect.js';
import { openNewSession } from '../open-new-session.js';
import { ProcessSinks } from '../process-sinks.js';
import { Agreement } from './agreement.js';
import { decodeInitialize, describeServer } from './initialize.js';

/** A method of this dialect. */
export interface AppMethod extends DialectMethod {
  /** Refused unless the client asked for `experimentalApi`. */
  readonly experimental: boolean;
  readonly name: string;
}

/** What conversations in this dialect have in common. */
export interface AppServices {
  readonly engine: ProcessEngine;
  readonly sessions: SessionRegistry;
  readonly methods: ReadonlyMap<string, AppMethod>;
  /** Where the files of Codex are. */
  readonly codexHome: string;
}

/** A client of the app dialect. What it started ends with its connection. */
export class AppConversation implements Conversation, SessionOwner {
  readonly parseErrors = 'ignore';
  #session: Session | undefined;

  constructor(
    private readonly host: ConversationHost,
    private readonly services: AppServices,
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
    // The answer to the request says what became of a start.
  }

  initialize(raw: unknown): unknown {
    const { clientInfo, capabilities = {} } = decodeInitialize(raw);
    if (this.#session !== undefined) throw invalidRequest('Already initialized', 'already_initialized');
    const result = describeServer(clientInfo, this.services.codexHome);
    const { scope, info, logger } = this.host;
    const agreement = scope.keep(Agreement);
    agreement.settle(capabilities);
    scope.encodeNotification = (method, params) => agreement.encodeNotification(method, params);
    this.#session = openNewSession(this.services.sessions, info.principal, this);
    logger.debug({ sessionId: this.#session.id, clientName: clientInfo.name }, 'client initialized');
    return result;
  }

  find(method: string): AppMethod | undefined {
    return this.services.methods.get(method);
  }

  unknownMethod(method: string): RpcError {
    const names = ['initialize', ...this.services.methods.keys()].map((name) => `\`${name}\``);
    const expected = names.length === 1 ? names[0] : `one of ${names.join(', ')}`;
    return invalidRequest(
      `Invalid request: unknown variant \`${method}\`, expected ${expected}`,
      'method_not_found',
    );
  }

  admit({ name, experimental }: AppMethod): Session {
    if (this.#session === undefined) throw invalidRequest('Not initialized', 'not_initialized');
    if (experimental && !this.host.scope.keep(Agreement).experimentalApi)
      throw invalidRequest(`${name} requires experimentalApi capability`);
    return this.#session;
  }

  overloaded(): RpcError {
    return overloaded('Server overloaded; retry later.');
  }

  takeNotification(): undefined {
    return undefined;
  }

  takeUnexpectedResponse(): undefined {
    return undefined;
  }

  close(): void {
    if (this.#session !== undefined) this.services.sessions.end(this.#session);
  }
}
