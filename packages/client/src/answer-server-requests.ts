import {
  decodeResult,
  ErrorCode,
  isServerRequest,
  MalformedMessageError,
  type NetworkDecision,
  type NetworkPolicyRequestParams,
  namedError,
  type RequestId,
  type RequestMessage,
  SERVER_REQUESTS,
} from '@exec-server/protocol';
import type { Peer } from '@exec-server/rpc';

/** Questions of the server that may wait for an answer at once; more are denied. */
const MAX_QUESTIONS = 256;

/** Decides whether a process may connect somewhere. What it throws is a denial. */
export type NetworkPolicyHandler = (
  request: NetworkPolicyRequestParams,
) => NetworkDecision | Promise<NetworkDecision>;

type Answerer = Pick<Peer, 'respond' | 'respondError'>;

const denial = (reason: string): NetworkDecision => ({ type: 'deny', reason });

/** Answers what a server asks of its client. Without a handler every connection of a process is denied. */
export class ServerRequests {
  readonly #decide: NetworkPolicyHandler | undefined;
  readonly #open = new Set<RequestId>();

  constructor(decide: NetworkPolicyHandler | undefined) {
    this.#decide = decide;
  }

  /**
   * Answers now or later. An id that no server sends, or that still waits for its answer, is an error of the protocol.
   *
   * @throws MalformedMessageError
   */
  answer(request: RequestMessage, peer: Answerer): void {
    const { id, method } = request;
    if (!Number.isSafeInteger(id) || (id as number) < 0)
      throw new MalformedMessageError(`request id ${JSON.stringify(id)} is no integer from 0`);
    if (this.#open.has(id)) throw new MalformedMessageError(`request id ${id} is in use already`);
    if (!isServerRequest(method)) {
      const message = `exec-server client does not implement \`${method}\` yet`;
      peer.respondError(id, namedError(ErrorCode.methodNotFound, message, 'method_not_found'));
      return;
    }
    if (method === 'client/status') {
      peer.respond(id, { status: 'ready' });
      return;
    }
    const params = decodeResult(SERVER_REQUESTS[method].params, request.params);
    if (this.#open.size >= MAX_QUESTIONS) {
      peer.respond(id, { decision: denial('too many questions are open') });
      return;
    }
    this.#open.add(id);
    void this.#decideSafely(params).then((decision) => {
      this.#open.delete(id);
      peer.respond(id, { decision });
    });
  }

  async #decideSafely(params: NetworkPolicyRequestParams): Promise<NetworkDecision> {
    if (this.#decide === undefined) return denial('this client allows no connections');
    try {
      return await this.#decide(params);
    } catch {
      return denial('the client could not decide');
    }
  }
}
